"""What a row gives: figures with their samples, and what they come to."""

import dataclasses
import statistics


@dataclasses.dataclass
class Figure:
    name: str
    unit: str
    peer: str
    first: float  # the first bar and the aim, as ratios to the peer, or as values where there is no peer
    aim: float
    more_is_better: bool
    ours: list = dataclasses.field(default_factory=list)
    theirs: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    skipped: str = ""

    @property
    def ratios(self):
        """Each of our runs to the peer's run beside it; without a peer the values themselves."""
        if not self.peer:
            return self.ours
        return [mine / other for mine, other in zip(self.ours, self.theirs) if other]

    @property
    def ratio(self):
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def verdict(self):
        if self.ratio is None:
            return "skipped"
        reached = (lambda bar: self.ratio >= bar) if self.more_is_better else (lambda bar: self.ratio <= bar)
        return "aim" if reached(self.aim) else "first bar" if reached(self.first) else "BELOW"

    def cells(self):
        def middle(samples):
            return f"{number(statistics.median(samples))} {self.unit}".strip() if samples else "–"

        sign = "×" if self.peer else ""
        spread = f"{number(min(self.ratios))}–{number(max(self.ratios))}" if self.ratios else "–"
        ratio = f"{number(self.ratio)}{sign}" if self.ratios and self.peer else "–"
        return [self.name, middle(self.ours), self.peer or "–", middle(self.theirs) if self.peer else "–", ratio, spread,
                f"{number(self.first)}{sign}", f"{number(self.aim)}{sign}", self.verdict]

    def record(self):
        return dataclasses.asdict(self) | {"ratio": self.ratio, "verdict": self.verdict}


HEADINGS = ["figure", "ours", "peer", "peer's", "ratio", "min–max", "first bar", "aim", "verdict"]


def number(value):
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"

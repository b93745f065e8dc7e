"""The audit log of one run: which entries it has to hold, and their ids in words."""

from dataclasses import dataclass

from login import Session

# Who, what, how often; each with success.
DONE = (
    ("admin", "session.started", 1), ("admin", "app.created", 2), ("admin", "account.created", 2),
    ("admin", "configuration.published", 2), ("admin", "configuration.reports-read", 1),
    ("Ada", "session.started", 3), ("Ada", "device.enrolled", 3), ("Ada", "configuration.reported", 4),
    ("Ada", "device.removed", 1), ("Ada", "session.ended", 1),
    ("Ben", "session.started", 1), ("Ben", "device.enrolled", 1), ("Ben", "configuration.reported", 2),
    ("Ben", "session.ended", 1),
)
REFUSED = (("anonymous", "session.refused", 1), ("Ben", "device.refused", 1))


@dataclass(frozen=True)
class Act:
    actor: str
    action: str
    target: str
    outcome: str
    device: str


class Acts:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        # On which device, by session.
        self._sessions: dict[str, str] = {}
        self._administrator = ""

    def administrator(self, session: Session) -> None:
        self._administrator = session.account_id
        self._sessions[session.sid] = ""
        self.names |= {session.account_id: "admin", session.sid: "of the administrator"}

    def session(self, sid: str, app: str, device: str) -> None:
        self._sessions[sid] = device
        self.names[sid] = f"of {self.names[app]}"

    def is_ours(self, entry: dict) -> bool:
        """Others may use the server at the same time, also as the administrator."""
        if entry.get("session") in self._sessions:
            return True
        target = entry.get("target", {}).get("id")
        return target in self.names and target != self._administrator

    def read(self, entry: dict) -> Act:
        actor, target = entry["actor"], entry.get("target", {})
        return Act(
            actor=self.names.get(actor.get("id", ""), actor["kind"]),
            action=entry["action"],
            target=" ".join(filter(None, (target.get("kind"), self.names.get(target.get("id", ""))))),
            outcome=entry["outcome"],
            device=self._sessions.get(entry.get("session", ""), ""),
        )

    def missing(self, entries: list[dict]) -> list[str]:
        """What has to be there and is not, each as often as it happened."""
        left = [(act.actor, act.action, act.outcome) for act in map(self.read, entries)]
        lacking = []
        for acts, outcome in ((DONE, "success"), (REFUSED, "refused")):
            for who, action, count in acts:
                if left.count((who, action, outcome)) < count:
                    lacking.append(f"{action} by {who}, {count} times with outcome {outcome}")
        return lacking

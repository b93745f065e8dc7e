"""Draws the goodput curve."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 50, 40, 20


def goodput(capacity, curve):
    """SVG of goodput over offered load, both in requests a second; `curve` has goodput by multiple of the capacity."""
    most_x = max(curve) * capacity * 1.05
    most_y = max(capacity, *curve.values()) * 1.15

    def x(value):
        return LEFT + value / most_x * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - value / most_y * (HEIGHT - BOTTOM - TOP)

    points = [(x(step * capacity), y(value)) for step, value in sorted(curve.items())]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">Sends answered 201 within 1 s, by how many are asked for</text>',
        f'<path d="M{x(0)} {y(most_y):.1f}V{y(0):.1f}H{x(most_x):.1f}" fill="none" stroke="#444"/>',
        f'<path d="M{x(0)} {y(0):.1f}L{x(capacity):.1f} {y(capacity):.1f}H{x(most_x):.1f}" fill="none" stroke="#aaa" '
        'stroke-dasharray="4 4"/>',
        f'<text x="{x(most_x):.1f}" y="{y(capacity) - 6:.1f}" fill="#777" text-anchor="end">ideal</text>',
        '<polyline fill="none" stroke="#1f5fa8" stroke-width="2" points="'
        + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>',
    ]
    for (a, b), (step, value) in zip(points, sorted(curve.items())):
        parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="#1f5fa8"/>')
        parts.append(f'<text x="{a:.1f}" y="{b + 18:.1f}" text-anchor="middle">{value:,.0f}</text>')
        parts.append(f'<text x="{a:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{step}×</text>')
    for share in (0, 0.5, 1):
        parts.append(f'<text x="{LEFT - 6}" y="{y(capacity * share) + 4:.1f}" text-anchor="end">{capacity * share:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">asked for, as a multiple of the '
                 'capacity</text></svg>')
    return "\n".join(parts) + "\n"

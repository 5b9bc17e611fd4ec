"""Your own kernel in five lines
==============================

An hour is a point on a clock: 23:30 is as close to 0:30 as 11:30 is to 12:30. No
ready-made kernel knows that, but five lines do, and then every solver runs on them.
"""

from math import pi, sin

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg import kernel
from kernreg.jit import exp
from kernreg.plotting import PALETTE
from kernreg.testing import check_kernel


@kernel(of="rows", symmetric=True, definite=True)
def clock(x, z, sigma=1.0):
    """exp(-2 sin²(π (x - z) / 24) / sigma²), for hours x and z."""
    s = sin(pi * (x[0] - z[0]) / 24)
    return exp(-2 * s * s / (sigma * sigma))


# %%
# The function is compiled when it is first used. What it declares, symmetry and
# definiteness, is tested with everything else that solvers rely on: ``check_kernel``
# raises an error with a counter-example if a law is broken.

check_kernel(clock)
print(clock(sigma=0.8)([[23.5], [11.5]], [[0.5], [12.5]]).round(3))

# %%
# Use it: how much power does a town need at each hour? Nobody measured between 22:00
# and 5:00.


def truth(hour):
    """Megawatts at an hour of the day."""
    turn = 2 * pi * hour[:, 0] / 24
    return 50 - 20 * np.cos(turn - 0.5) + 6 * np.sin(2 * turn)


rng = np.random.default_rng(1)
hour = rng.uniform(5, 22, (40, 1))
power = truth(hour) + 2.5 * rng.standard_normal(40)
day = np.linspace(0, 24, 241)[:, None]
kernels = {
    "rbf: a jump at midnight": "rbf",
    "clock: midnight is an hour like any other": clock(),
}
fits = {
    name: kr.make_solver("ls-svr", kernel=k, gamma="loo").fit(hour, power)
    for name, k in kernels.items()
}
gaps = [float(np.ptp(model.predict([[0.0], [24.0]]))) for model in fits.values()]
print(f"from 0:00 to 24:00: rbf {gaps[0]:.1f}, clock {gaps[1]:.1f} megawatts")
assert gaps[0] > 5
assert gaps[1] < 1e-6

errors = [np.abs(model.predict(day) - truth(day)).mean() for model in fits.values()]
print(f"mean error over the day: rbf {errors[0]:.1f}, clock {errors[1]:.1f} megawatts")
assert errors[1] < errors[0] / 2

# %%
# The picture is centred at midnight. The Gaussian guesses twice, from either side,
# and the guesses do not meet.

fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
for shift in (-24, 0):
    ax.plot(hour + shift, power, ".", color="0.5", label=None if shift else "measured")
    ax.plot(
        day + shift, truth(day), ":", color="black", label=None if shift else "true"
    )
for (name, model), colour, style in zip(
    fits.items(), (PALETTE[1], PALETTE[0]), ("--", "-"), strict=True
):
    value = model.predict(day)
    for shift in (-24, 0):
        ax.plot(
            day + shift,
            value,
            style,
            color=colour,
            linewidth=2,
            label=name if shift else None,
        )
ax.axvline(0, color="0.4", linewidth=1)
ax.set(
    xlim=(-12, 12),
    xticks=range(-12, 13, 3),
    xticklabels=[f"{h % 24}:00" for h in range(-12, 13, 3)],
)
ax.set(title="Power needed around midnight", ylabel="megawatts")
ax.set_ylim(15, 95)
ax.legend(loc="upper center", ncols=2)
plt.show()

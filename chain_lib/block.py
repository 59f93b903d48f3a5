"""The block form of a mechanism's compiled code: 64 systems side by side, for maps over many of them.

A block is one array b. With numba it is flat, and number ``row`` of the system s stands at
b[row * WIDTH + s]: every loop over s has a known length and known distances, so that it becomes vector
instructions. Without numba WIDTH is 1 and b has two axes: b[row] is an array over all systems, and
the same source is plain NumPy. Nothing in it branches; what differs from system to system is chosen.
"""

import re
from functools import reduce

import numpy as np

from chain_lib.codegen import (
    _definition,
    _first,
    _module,
    _state_quantities,
    _Symbols,
    compiles,
    copied,
    generated,
    inner,
)
from chain_lib.linear import CONTRADICTION, ldlt_lines
from chain_lib.simulation import DEPENDENT

WIDTH = 64 if compiles() else 1

# Rows of a block. AT is the time of a state, T that of a stage, H the step to the next state; LIMIT and
# FASTEST the squared residuals at which a system has diverged; SOLVED falls to 0 where a stage has no
# solution; BEFORE and EARLIER are the regularity one and two steps ago, and BALANCE is E − W at the start.
# WORST and LOST are the largest squared position residual and error of the energy balance so far.
# From FIRST on: q, v, q̈, four of the stepper's own, each n rows; and the parameters.
(
    AT, T, H, DT, STEPS, ALPHA, BETA, LIMIT, FASTEST, POWER, POWERS, WORK, SOLVED, BEFORE, EARLIER, BALANCE, WORST, LOST,
    STATUS, FIRST,
) = range(20)  # fmt: skip
STATES = 7

RUNNING, FINISHED, NEAR_SINGULAR, FAILED = 0.0, 1.0, 2.0, 3.0  # and where FAILED, the step is added


def choose(condition, one, other):
    """One where the condition holds, the other elsewhere; of a number in compiled code, of an array in NumPy."""
    return np.where(condition, one, other)


if compiles():
    from numba.extending import overload

    @overload(choose)
    def _choose(condition, one, other):
        return lambda condition, one, other: one if condition else other


@inner
def larger(one, other):
    """The larger of two, of each system by itself; ``one`` where it is not a number."""
    return choose(other > one, other, one)


@inner
def smaller(one, other):
    """The smaller of two, of each system by itself; ``one`` where it is not a number."""
    return choose(other < one, other, one)


@inner
def clock(k, t_end, s, b):
    """Time of step k and length of the step after it; a system that has ended stays where it is."""
    dt, steps = b[DT * WIDTH + s], b[STEPS * WIDTH + s]
    t = choose(k < steps, k * dt, t_end)
    ahead = choose(k + 1 < steps, (k + 1) * dt, t_end)
    return t, choose(b[STATUS * WIDTH + s] == RUNNING, ahead - t, 0.0)


@inner
def lowest(k, regularity, s, b):
    """Whether a parabola through the last three regularities comes down to zero within a step or so."""
    before, earlier = b[BEFORE * WIDTH + s], b[EARLIER * WIDTH + s]
    b[EARLIER * WIDTH + s] = before
    b[BEFORE * WIDTH + s] = regularity
    return (k >= 2) & (earlier > before) & (before <= regularity) & (3.0 * before <= earlier + regularity)


@inner
def judge(k, residual, rate, energy, solved, near, s, b):
    """Keep the largest residuals of a system that is sound at step k, and end it where it is not."""
    status, worst, lost = b[STATUS * WIDTH + s], b[WORST * WIDTH + s], b[LOST * WIDTH + s]
    balance = energy - b[WORK * WIDTH + s]
    error = abs(balance - b[BALANCE * WIDTH + s])
    bounded = (residual <= b[LIMIT * WIDTH + s]) & (rate <= b[FASTEST * WIDTH + s]) & (abs(energy) < np.inf)
    sound = bounded & solved & (b[SOLVED * WIDTH + s] > 0.0)
    here = sound & (status == RUNNING)
    going = choose(near, NEAR_SINGULAR, choose(k >= b[STEPS * WIDTH + s], FINISHED, RUNNING))
    b[WORST * WIDTH + s] = choose(here & (residual > worst), residual, worst)
    b[LOST * WIDTH + s] = choose(here & ~(error <= lost), error, lost)  # also what is not a number
    b[STATUS * WIDTH + s] = choose(status == RUNNING, choose(sound, going, FAILED + k), status)


@copied
def rk4(accelerate, n, b):
    """The classical method of order 4; see `integrators.runge_kutta`."""
    for i in range(FIRST, FIRST + 2 * n):  # (q, v): n rows on are its rates (v, q̈), 3 n its start, 5 n their sum
        for s in range(WIDTH):
            b[(i + 3 * n) * WIDTH + s] = b[i * WIDTH + s]
        for s in range(WIDTH):
            b[(i + 5 * n) * WIDTH + s] = b[(i + n) * WIDTH + s]
    for s in range(WIDTH):
        b[POWERS * WIDTH + s] = b[POWER * WIDTH + s]
    for stage in range(1, 4):
        c = 0.5 if stage < 3 else 1.0
        weight = 2.0 if stage < 3 else 1.0
        for i in range(FIRST, FIRST + 2 * n):
            for s in range(WIDTH):
                b[i * WIDTH + s] = b[(i + 3 * n) * WIDTH + s] + c * b[H * WIDTH + s] * b[(i + n) * WIDTH + s]
        for s in range(WIDTH):
            b[T * WIDTH + s] = b[AT * WIDTH + s] + c * b[H * WIDTH + s]
        accelerate(b)
        for i in range(FIRST, FIRST + 2 * n):
            for s in range(WIDTH):
                b[(i + 5 * n) * WIDTH + s] += weight * b[(i + n) * WIDTH + s]
        for s in range(WIDTH):
            b[POWERS * WIDTH + s] += weight * b[POWER * WIDTH + s]
    for i in range(FIRST, FIRST + 2 * n):
        for s in range(WIDTH):
            b[i * WIDTH + s] = b[(i + 3 * n) * WIDTH + s] + b[H * WIDTH + s] / 6 * b[(i + 5 * n) * WIDTH + s]
    for s in range(WIDTH):
        b[WORK * WIDTH + s] += b[H * WIDTH + s] / 6 * b[POWERS * WIDTH + s]


STEPPERS = ("explicit_euler", "semi_implicit_euler", "rk4")
"""Methods that have a block form."""


def load_block(mechanism, method, redundant="raise"):
    """The generated module of a mechanism and a method for blocks; see `block_source`."""
    return generated(
        mechanism, f"block_{method}_{redundant}", lambda mechanism: block_source(mechanism, method, redundant)
    )


def block_source(mechanism, method, redundant):
    """Python source of two kernels for a block of ``rows`` rows.

    ``prepare(b)`` computes the energy at the start, and what depends on the parameters alone. ``advance(first, last, t_end, b)`` solves for every system what `codegen.module_source` says, without applied forces, judges the states
    of the steps ``first`` to ``last - 1``, and makes a step from each. Euler's methods are a part of
    the same loop; those with stages call ``accelerate(b)`` for them.
    """
    n, symbols = mechanism.n, _Symbols(mechanism, _printer())
    lines, state, acceleration, power, energy = _equations(mechanism, symbols, redundant)
    prepare, lines, kept = _once(lines, symbols, FIRST + STATES * n + len(mechanism.parameters))
    moves = [f"{_at(WORK)} += h*({power})"] if power else []
    if method == "rk4":
        last = [f"    rk4(accelerate, {n}, b)"]
        stage = [f"t = {_at(T)}", *lines, f"{_at(SOLVED)} *= choose(solved, 1.0, 0.0)", *_rates(acceleration, power)]
        moves = [f"{_at(AT)} = t", f"{_at(H)} = h", *_rates(acceleration, power)]
        blocks = [_definition("accelerate(b)", [*_each(stage), "return True"], kernel="accelerate_block")]
    else:
        last, blocks = [], []
        order = (0, n) if method == "explicit_euler" else (n, 0)
        for i in range(n):
            rate = {0: _at(FIRST + n + i), n: acceleration[i]}
            moves += [f"{_at(FIRST + row + i)} += h*{rate[row]}" for row in order]
    step = _each(["t, h = clock(k, t_end, s, b)", *lines, *state, *moves])
    advance = ["for k in range(first, last):", "    step(k, t_end, b)", *last, "return True"]
    blocks += [
        _definition(
            "prepare(b)", [*_each([*prepare, f"{_at(BALANCE)} = {energy}"]), "return True"], "accelerate_block"
        ),
        # step is a function of its own, since a loop becomes vector instructions only where it stands alone
        _definition("step(k, t_end, b)", [*step, "return True"], kernel="step_block"),
        _definition("advance(first, last, t_end, b)", advance, kernel="march_block"),
    ]
    used = ["WIDTH", "choose", "clock", "judge", "larger", "lowest", *(["rk4"] if method == "rk4" else []), "smaller"]
    blocks += ["", "", f"rows = {kept}"]
    return _module(mechanism, symbols, blocks, more=[f"from chain_lib.block import {', '.join(used)}"])


def _once(lines, symbols, row):
    """The lines with what is to be kept in rows from ``row`` on, the lines that use it, and the number of all rows.

    A quotient or a function of parameters alone is kept, because it costs as much as many products.
    """
    known, once, left = {"abs", "choose", "larger", "smaller", *symbols.functions}, [f"t = {_at(AT)}"], []
    for line in lines:
        name, value = line.split(" = ", 1)
        names = set(re.findall(r"\b[A-Za-z_]\w*", value))
        once.append(line)
        if name not in ("solved", "used", "regularity") and (re.fullmatch(r"p\d+", name) or names <= known):
            known.add(name)
            if "/" in value.replace("(1/2)", "") or names & symbols.functions:
                once.append(f"{_at(row)} = {name}")
                line, row = f"{name} = {_at(row)}", row + 1
        left.append(line)
    return once, left, row


def _each(lines):
    return ["for s in range(WIDTH):", *(f"    {line}" for line in lines)]


def _at(row):
    return f"b[{row}*WIDTH+s]"


def _rates(acceleration, power):
    yield from (f"{_at(FIRST + 2 * len(acceleration) + i)} = {x}" for i, x in enumerate(acceleration))
    yield f"{_at(POWER)} = {power or '0.0'}"


def _equations(mech, symbols, redundant):
    """Lines that solve the equations, lines that judge the state, and names of accelerations, power and energy."""
    import sympy as sp

    n, m = mech.n, mech.m
    places = {letter: f"b[({row}+{{}})*WIDTH+s]" for letter, row in zip("qvp", (FIRST, FIRST + n, FIRST + STATES * n))}
    energy = sp.Matrix([mech.kinetic_energy + mech.potential_energy])
    wanted = {**_state_quantities(mech), "r": mech.f - mech.h, "f": mech.f, "s": -mech.gamma, "phi_t": mech.phi_t}
    lines, name = symbols.assignments(places, {**wanted, "E": energy})
    phi, rate, units = _first(name["phi"]), _first(name["rate"]), [unit for _, unit in mech.constraints.values()]
    push = [f"(-2.0*alpha*{rate[k]}-beta*beta*{phi[k]})" for k in range(m)]
    right_sides = [(_first(name["r"]), _first(name["s"])), (["0"] * n, push)]
    drop = "0.0" if redundant == "raise" else repr(DEPENDENT)
    acceleration = [f"(x0_{i}+x1_{i})" for i in range(n)]
    power = [f"+{force}*{_at(FIRST + n + i)}" for i, force in enumerate(_first(name["f"])) if force != "0"]
    power += [f"-(x0_{n + k}+x1_{n + k})*{moved}" for k, moved in enumerate(_first(name["phi_t"])) if moved != "0"]
    equations = [
        f"alpha = {_at(ALPHA)}",
        f"beta = {_at(BETA)}",
        *lines,
        "solved = True",
        *ldlt_lines(name["M"], name["J"], right_sides, units, drop, True),
        *([] if redundant == "raise" else _agreements(name, acceleration, push)),
    ]
    squares = ("+".join(f"{x}*{x}" for x in column) or "0.0" for column in (phi, rate))
    near = "lowest(k, regularity, s, b)" if m > 1 else "False"
    state = [f"near = {near}", f"judge(k, {', '.join(squares)}, {name['E'][0][0]}, solved, near, s, b)"]
    return equations, state, acceleration, "".join(power), name["E"][0][0]


def _agreements(name, acceleration, push):
    """Lines that take for unsolved where a constraint that was left out is not fulfilled by the others' solution."""
    for k, row in enumerate(name["J"]):
        terms = [f"{x}*{acceleration[j]}" for j, x in enumerate(row) if x != "0"]
        terms += [f"-{name['s'][k][0]}", f"-{push[k]}"]
        off, size = "+".join(terms).replace("+-", "-"), "+".join(f"abs({x})" for x in terms)
        yield f"solved = solved & (abs({off}) <= {CONTRADICTION!r}*({size}))"


def _printer():
    """A printer of expressions that hold for a number in compiled code and for arrays in NumPy alike."""
    from sympy.printing.pycode import PythonCodePrinter

    class BlockPrinter(PythonCodePrinter):
        def _print_Piecewise(self, expression):
            *parts, (last, condition) = expression.args
            text = self._print(last)
            if condition != True:  # noqa: E712 - sympy's own True
                parts, text = expression.args, "nan"
                self.module_imports["numpy"].add("nan")
            for value, condition in reversed(parts):
                text = f"choose({self._print(condition)}, {self._print(value)}, {text})"
            return text

        def _print_Max(self, expression):
            return reduce(lambda one, other: f"larger({one}, {other})", map(self._print, expression.args))

        def _print_Min(self, expression):
            return reduce(lambda one, other: f"smaller({one}, {other})", map(self._print, expression.args))

        def _print_And(self, expression):
            return "(" + " & ".join(f"({self._print(part)})" for part in expression.args) + ")"

        def _print_Or(self, expression):
            return "(" + " | ".join(f"({self._print(part)})" for part in expression.args) + ")"

        def _print_Not(self, expression):
            self.module_imports["numpy"].add("logical_not")
            return f"logical_not({self._print(expression.args[0])})"

        def _print_sign(self, expression):
            self.module_imports["numpy"].add("sign")
            return f"sign({self._print(expression.args[0])})"

    return BlockPrinter

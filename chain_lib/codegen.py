"""Compile a mechanism: from the derived expressions to numeric functions, cached on disk.

The source is written once per definition, as a Python file. With numba it is compiled to machine
code, and that is kept on disk too; without numba the same file runs in plain NumPy.
"""

import hashlib
import importlib.util
import os
import platform
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from chain_lib.linear import CONTRADICTION, RANK_TOLERANCE, ldlt_lines

ERROR_MODEL = "numpy"  # a division by zero gives inf, as in NumPy, and ends the run as a divergence

# Kernels share two arrays, because passing one costs as much as an evaluation of a small mechanism:
# ``state`` has a row each for coordinates, velocities, applied forces and accelerations, and
# ``record`` holds what is watched, with the multipliers from MULTIPLIERS on. REGULARITY is the least
# squared distance of a constraint's gradient from the span of the others, relative to the largest
# gradient; DROP is what is set: 0, or the REGULARITY at which a dependent constraint is left out. Above
# the limit of a singular system, RANK_TOLERANCE², a constraint that was left out must agree with the others.
# PENDING is a time over which the power at the end of a step still counts as work, and LEFT what an
# iteration leaves that did not arrive; OWN says that the method has multipliers of its own. For the methods that need more than accelerations the state has
# further rows, from INERTIA on: M, J, the force τ + f − h, and the slope τ + f + ∂(T − V)/∂q; and the
# record has φ and φ_t after the multipliers.
Q, V, TAU, A, INERTIA = range(5)
PHI_SQUARED, RATE_SQUARED, ENERGY, POWER, WORK, REASON, REGULARITY, DROP, AT_START, PENDING, LEFT, OWN, MULTIPLIERS = (
    range(13)
)


@cache
def _numba():
    try:
        import numba
    except ImportError:
        return None
    return numba


@cache
def _signatures():
    from numba import types

    real, vector, matrix, yes = types.float64, types.float64[::1], types.float64[:, ::1], types.boolean
    accelerate = yes(real, matrix, vector, real, real, vector)
    correct = yes(real, matrix, vector, real, matrix, vector)
    settle = types.intp(types.FunctionType(correct), real, matrix, vector, *[real] * 4, matrix, vector)
    run = (types.FunctionType(accelerate), types.none)
    step = yes(*run, real, real, matrix, vector, real, real, vector, matrix)
    march = types.intp(
        types.FunctionType(step), *run, types.FunctionType(correct),
        types.intp, vector, matrix, vector, *[real] * 8, matrix, vector, *[matrix] * 5,
    )  # fmt: skip
    block = {"accelerate_block": yes(vector), "step_block": yes(types.intp, real, vector),
             "march_block": yes(types.intp, types.intp, real, vector)}  # fmt: skip
    return {"accelerate": accelerate, "correct": correct, "settle": settle, "step": step, "march": march, **block}


def compiled(kind):
    """Decorator: compile a kernel with the signature of its kind, or leave it as it is without numba.

    The machine code is cached under `build_directory`, so that a change in any of the library's
    compiled modules leads to a new compilation; numba alone would watch one file only.
    """

    def decorate(function):
        numba = _numba()
        if numba is None:
            return function
        directory = build_directory()
        marker = directory / f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}.compiled"
        saved, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(directory)
        try:
            threads = kind == "march_block"  # the only kernel that other threads may run beside
            build = numba.njit(_signatures()[kind], cache=True, error_model=ERROR_MODEL, nogil=threads)
            if marker.exists():
                return build(function)
            with _notice():
                kernel = build(function)
            marker.touch()
            return kernel
        finally:
            numba.config.CACHE_DIR = saved

    return decorate


def inner(function, inline="never"):
    """Decorator: a function that kernels call is compiled as a part of them, and stays plain Python elsewhere."""
    if _numba() is None:
        return function
    from numba.extending import register_jitable

    return register_jitable(inline=inline)(function)


def copied(function):
    """Decorator: an `inner` function that is copied to where it is called; a constant there is one here too."""
    return inner(function, inline="always")


def compiles():
    """Whether kernels are compiled, that is, whether numba is installed."""
    return _numba() is not None


def plain(kernel):
    """The Python function behind a compiled kernel."""
    return getattr(kernel, "py_func", kernel)


@cache
def build_directory():
    """Directory of generated files for this version of the library, Python, sympy and numba."""
    import sympy

    numba = _numba()
    key = hashlib.sha256()
    versions = (platform.python_version(), sympy.__version__, numba.__version__ if numba else "no numba")
    key.update(repr(versions).encode())
    package = Path(__file__).parent
    for source in sorted([*package.glob("*.py"), *package.glob("integrators/*.py")]):
        key.update(source.read_bytes())
    return _writable(_cache_root() / key.hexdigest()[:16])


def _cache_root():
    if chosen := os.environ.get("CHAIN_LIB_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "chain_lib"


def _writable(directory):
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
        return directory
    except OSError:
        return Path(tempfile.mkdtemp(prefix="chain_lib_"))


def load(mechanism, full=False):
    """The generated module of a mechanism; written, and with numba compiled, if it is new.

    Parameters
    ----------
    mechanism : Mechanism
    full : bool
        Another module, with ``accelerate`` alone, that also leaves M, J, φ and the rest in its arguments.

    Returns
    -------
    module
        With ``accelerate`` and ``correct`` as kernels (see `module_source`) and plain functions
        ``M, h, f, B, J, phi, phi_t, gamma, energy, phi_terms`` of (t, q, v, p), the ``points``, and for
        bodies ``twists`` and ``twist_bias`` (so that the bodies' accelerations ẍ, ÿ and ω̇ are
        twists q̈ + twist_bias), ``centres``, ``joint_points``, ``slides``, ``masses`` (m, I and weight)
        and ``springs``, the part of −∂V/∂q that is not weight.
    """
    return generated(mechanism, "full", full_source) if full else generated(mechanism, "m", module_source)


def generated(mechanism, form, source):
    """The module that ``source(mechanism)`` writes, under the name of its form; kept on disk and in memory."""
    stem = f"{form}_{_definition_key(mechanism)}"
    name = f"chain_lib_generated_{stem}"
    if name in sys.modules:
        return sys.modules[name]
    file = build_directory() / f"{stem}.py"
    if not file.exists():
        with _notice():
            _write(file, source(mechanism))
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # numba's cache looks the module up by name while it is being loaded
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


_keys = WeakKeyDictionary()


def _definition_key(mechanism):
    if mechanism not in _keys:
        _keys[mechanism] = _new_definition_key(mechanism)
    return _keys[mechanism]


def _new_definition_key(mechanism):
    from sympy import srepr

    parts = (
        [srepr(x) for x in (mechanism.q, mechanism.v, *mechanism.parameters)],
        [srepr(x) for x in (mechanism.kinetic_energy, mechanism.potential_energy, mechanism.f)],
        [(srepr(expression), unit) for expression, unit in mechanism.constraints.values()],
        [(label, srepr(point)) for label, point in mechanism.points.items()],
        [srepr(turned) for turned in mechanism.motors.values()],
        [
            srepr(part)
            for body in mechanism.bodies.values()
            for part in (body.mass, body.centre, body.angle, body.inertia)
        ],
        [(joint.point, srepr(joint.along)) for joint in mechanism.joints],
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _write(file, text):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, suffix=".tmp", delete=False) as part:
        part.write(text)
    os.replace(part.name, file)


def module_source(mechanism):
    """Python source of a mechanism's numeric functions.

    Two of them are kernels, whose numbers stay in local variables from the equations to the solution:

    ``accelerate(t, state, p, alpha, beta, record)`` solves M q̈ + h = τ + f + Jᵀλ and
    J q̈ + γ = −2α φ̇ − β² φ. It leaves q̈ in the state, and in the record the squares ‖φ‖² and
    ‖J v + φ_t‖², the energy, the power (τ+f)ᵀv − λᵀφ_t of the λ that acts, and the λ of α = β = 0.

    ``correct(t, state, p, mass, change, record)`` finds the smallest changes of q and v, the rows of
    ``change``, that bring φ and J v + φ_t to zero to first order, in the metric of M (mass = 1) or of
    the unit matrix (mass = 0).

    Both return False where the KKT system is singular. With record[DROP] > 0 they leave out
    constraints that depend on others, with λ = 0, and ``accelerate`` returns False where those contradict
    the others; it does not ask that of a record[DROP] that is no larger than RANK_TOLERANCE².
    """
    import sympy as sp

    symbols = _Symbols(mechanism)
    mech = mechanism
    zeros = ["0"] * mech.n
    units = [unit for _, unit in mech.constraints.values()]
    state, energy = _state_quantities(mech), mech.kinetic_energy + mech.potential_energy
    terms = sp.Matrix(mech.m, 1, [sum(abs(x) for x in sp.Add.make_args(sp.expand(e))) for e in mech.phi])

    lines, name = symbols.assignments(KERNEL, state)
    metric = [
        [f"(mass*{x}+(1.0-mass))" if i == j else "0" if x == "0" else f"(mass*{x})" for j, x in enumerate(row)]
        for i, row in enumerate(name["M"])
    ]
    sides = [(zeros, [f"(-{x})" for x in _first(name["phi"])]), (zeros, [f"(-{x})" for x in _first(name["rate"])])]
    correct = [
        *lines,
        *_record(name),
        *ldlt_lines(metric, name["J"], sides, units, f"record[{DROP}]"),
        *(f"change[{row}, {i}] = x{row}_{i}" for row in range(2) for i in range(mech.n)),
        "return True",
    ]
    quantities = {"M": mech.M, "h": mech.h, "f": mech.f, "B": mech.B, "J": mech.J, "phi": mech.phi, "phi_t": mech.phi_t,
                  "gamma": mech.gamma, "energy": sp.Matrix([energy]), "phi_terms": terms,
                  **{f"point_{i}": point for i, point in enumerate(mech.points.values())},
                  **_body_quantities(mech)}  # fmt: skip
    blocks = [
        _accelerate(mech, symbols),
        _definition("correct(t, state, p, mass, change, record)", correct, kernel="correct"),
    ]
    for label, matrix in quantities.items():
        lines, name = symbols.assignments(PLAIN, {label: matrix})
        rows = ", ".join(f"[{', '.join(row)}]" for row in name[label])
        blocks.append(_definition(f"{label}(t, q, v, p)", [*lines, f"return [{rows}]"]))
    points = ", ".join(f"{label!r}: point_{i}" for i, label in enumerate(mech.points))
    return _module(mech, symbols, [*blocks, "", "", f"points = {{{points}}}"])


def full_source(mechanism):
    """Python source of ``accelerate`` for the methods that need M, J and φ too; see `INERTIA`."""
    symbols = _Symbols(mechanism)
    return _module(mechanism, symbols, [_accelerate(mechanism, symbols, full=True)])


def _module(mechanism, symbols, blocks, more=()):
    header = [repr(f"{mechanism.name}: generated by chain_lib.codegen."), ""]
    functions = [f"from numpy import {', '.join(sorted(symbols.functions))}", ""] if symbols.functions else []
    return "\n".join([*header, *functions, *more, "from chain_lib.codegen import compiled", *blocks, ""])


def _state_quantities(mechanism):
    import sympy as sp

    rate = sp.Matrix(mechanism.J * mechanism.v + mechanism.phi_t)
    return {"M": mechanism.M, "J": mechanism.J, "phi": mechanism.phi, "rate": rate}


def _accelerate(mech, symbols, full=False):
    import sympy as sp

    from chain_lib.derive import slope

    zeros, units = ["0"] * mech.n, [unit for _, unit in mech.constraints.values()]
    energy = sp.Matrix([mech.kinetic_energy + mech.potential_energy])
    more = {"slope": mech.f + slope(mech.kinetic_energy, mech.potential_energy, mech.q)} if full else {}
    lines, name = symbols.assignments(KERNEL, {**_state_quantities(mech), "r": mech.f - mech.h, "f": mech.f,
                                               "s": -mech.gamma, "phi_t": mech.phi_t, "E": energy, **more})  # fmt: skip
    r = [f"(state[{TAU}, {i}]+{name['r'][i][0]})" for i in range(mech.n)]
    push = [f"(-2.0*alpha*{name['rate'][k][0]}-beta*beta*{name['phi'][k][0]})" for k in range(mech.m)]
    return _definition(
        "accelerate(t, state, p, alpha, beta, record)",
        [
            *lines,
            *_record(name),
            f"record[{ENERGY}] = {name['E'][0][0]}",
            *(_everything(mech, name, r) if full else []),
            *ldlt_lines(name["M"], name["J"], [(r, _first(name["s"])), (zeros, push)], units, f"record[{DROP}]"),
            f"record[{REGULARITY}] = regularity",
            *(f"state[{A}, {i}] = x0_{i}+x1_{i}" for i in range(mech.n)),
            *_contradictions(name, push),
            *(f"record[{MULTIPLIERS + k}] = x0_{mech.n + k}" for k in range(mech.m)),
            f"record[{POWER}] = {_power(mech, name)}",
            "return True",
        ],
        kernel="accelerate",
    )


def _everything(mech, name, r):
    """Lines that leave M, J, force and slope in the state, and φ and φ_t in the record."""
    n, m = mech.n, mech.m
    slopes = [f"(state[{TAU}, {i}]+{name['slope'][i][0]})" for i in range(n)]
    for row, entries in enumerate([*name["M"], *name["J"], r, slopes]):
        yield from (f"state[{INERTIA + row}, {i}] = {entry}" for i, entry in enumerate(entries))
    for k in range(m):
        yield f"record[{MULTIPLIERS + m + k}] = {name['phi'][k][0]}"
        yield f"record[{MULTIPLIERS + 2 * m + k}] = {name['phi_t'][k][0]}"


def _body_quantities(mechanism):
    import sympy as sp

    if not mechanism.bodies:
        return {}
    bodies, q, v = mechanism.bodies.values(), mechanism.q, mechanism.v
    twists = sp.Matrix([sp.Matrix([*body.centre, body.angle]).jacobian(q) for body in bodies])
    ahead = [joint.along if joint.along is not None else sp.zeros(2, 1) for joint in mechanism.joints]
    g = next((symbol for symbol in mechanism.parameters if str(symbol) == "g"), sp.Integer(0))
    return {
        "twists": twists,
        "twist_bias": (twists * v).jacobian(q) * v,
        "centres": sp.Matrix([body.centre.T for body in bodies]),
        "joint_points": sp.Matrix([mechanism.points[joint.point].T for joint in mechanism.joints] or [sp.zeros(0, 2)]),
        "slides": sp.Matrix([direction.T for direction in ahead] or [sp.zeros(0, 2)]),
        "masses": sp.Matrix([[body.mass, body.inertia, body.mass * g] for body in bodies]),
        "springs": -sp.Matrix([mechanism.potential_energy - mechanism.weight]).jacobian(q).T,
    }


KERNEL = {"q": f"state[{Q}, {{}}]", "v": f"state[{V}, {{}}]", "p": "p[{}]"}
PLAIN = {"q": "q[{}]", "v": "v[{}]", "p": "p[{}]"}


class _Symbols:
    """Prints expressions with q, v and p as local variables, common subexpressions once."""

    def __init__(self, mechanism, printer=None):
        import sympy as sp
        from sympy.printing.pycode import PythonCodePrinter

        self.name, self.local = mechanism.name, {}
        for letter, symbols in (("q", mechanism.q), ("v", mechanism.v), ("p", mechanism.parameters)):
            self.local |= {symbol: sp.Symbol(f"{letter}{i}") for i, symbol in enumerate(symbols)}
        self.printer = (printer or PythonCodePrinter)({"fully_qualified_modules": False, "strict": True})

    @property
    def functions(self):
        return set().union(*self.printer.module_imports.values())

    def assignments(self, arguments, matrices):
        """Lines that compute matrices from a function's arguments, and the names of their entries, row by row."""
        import sympy as sp

        local = {label: sp.Matrix(matrix).xreplace(self.local) for label, matrix in matrices.items()}
        common, reduced = sp.cse(list(local.values()), symbols=sp.numbered_symbols("c"), list=True)
        used = set().union(*(x.free_symbols for x in local.values()))
        given = sorted(map(str, used & set(self.local.values())))
        lines = [f"{x} = {arguments[x[0]].format(x[1:])}" for x in given]
        lines += [f"{x} = {self._print(expression)}" for x, expression in common]
        names = {}
        for label, matrix in zip(local, reduced):
            names[label] = [["0"] * matrix.cols for _ in range(matrix.rows)]
            for i in range(matrix.rows):
                for j in range(matrix.cols):
                    if matrix[i, j] != 0:
                        names[label][i][j] = f"{label}_{i}_{j}"
                        lines.append(f"{label}_{i}_{j} = {self._print(matrix[i, j])}")
        return lines, names

    def _print(self, expression):
        try:
            return self.printer.doprint(expression)
        except NotImplementedError:
            raise ValueError(
                f"{self.name}: {expression} has no numeric form; use functions that sympy can print as Python, "
                "such as sin, sqrt, exp, tanh or Piecewise."
            ) from None


def _first(column):
    return [row[0] for row in column]


def _record(name):
    for slot, label in ((PHI_SQUARED, "phi"), (RATE_SQUARED, "rate")):
        yield f"record[{slot}] = " + ("+".join(f"{x}*{x}" for x in _first(name[label])) or "0.0")


def _contradictions(name, push):
    """Lines that return False where a constraint that was left out is not fulfilled by the others' solution."""
    if push:
        yield f"if record[{DROP}] > {RANK_TOLERANCE**2!r}:"
    for k, row in enumerate(name["J"]):
        terms = [f"{x}*state[{A}, {j}]" for j, x in enumerate(row) if x != "0"]
        terms += [f"-{name['s'][k][0]}", f"-{push[k]}"]
        yield f"    if abs({'+'.join(terms).replace('+-', '-')}) > {CONTRADICTION!r}*({'+'.join(f'abs({x})' for x in terms)}):"
        yield "        return False"


def _power(mechanism, name):
    forces = [f"(state[{TAU}, {i}]+{name['f'][i][0]})*state[{V}, {i}]" for i in range(mechanism.n)]
    moved = [
        f"-(x0_{mechanism.n + k}+x1_{mechanism.n + k})*{name['phi_t'][k][0]}"
        for k in range(mechanism.m)
        if name["phi_t"][k][0] != "0"
    ]
    return "+".join(forces) + "".join(moved)


def _definition(call, lines, kernel=None):
    decorator = [f'@compiled("{kernel}")'] if kernel else []
    return "\n".join(["", "", *decorator, f"def {call}:", *(f"    {line}" for line in lines)])


_notice_place = None


@contextmanager
def _notice():
    """Say that something is compiled, in a display that is cleared; not at all with CHAIN_LIB_QUIET=1."""
    clear = _say("chain_lib is deriving and compiling for this computer. It does so once and keeps the result …")
    try:
        yield
    finally:
        clear()


def _say(text):
    """Show a text, once on a terminal or once a notebook cell; return what takes it away again."""
    global _notice_place
    if os.environ.get("CHAIN_LIB_QUIET") == "1":
        return lambda: None
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        from IPython.display import display

        cell = shell.execution_count
        if _notice_place is None or _notice_place[0] != cell:
            _notice_place = cell, display({"text/plain": text}, raw=True, display_id=True)
        else:
            _notice_place[1].update({"text/plain": text}, raw=True)
        return lambda: _notice_place[1].update({"text/plain": ""}, raw=True)
    if _notice_place is None:
        _notice_place = "stderr"
        print(text, file=sys.stderr)
    return lambda: None

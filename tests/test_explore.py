"""Explorers over all corners and special values, and the live widget around them."""

from io import BytesIO
from itertools import product

import numpy as np
import pytest
from PIL import Image

import chain_lib as cl
from chain_lib import codegen
from chain_lib.explore.controls import Stops
from chain_lib.explore.live import LiveExplorer, Renderer

EXPLORERS = {name: getattr(cl.explore, name) for name in cl.explore.__all__}


@pytest.fixture(params=EXPLORERS)
def explorer(request):
    return EXPLORERS[request.param]()


def corners(explorer):
    """Every combination of the controls' ends and special values, and every preset."""
    names = [control.name for control in explorer.controls]
    for values in product(*(control.ends for control in explorer.controls)):
        yield dict(zip(names, values))
    for preset in explorer.presets.values():
        yield {**explorer.start, **preset}


def test_every_corner_is_computed_drawn_and_said(explorer):
    """Every corner is computed, put into the artists and said; of many corners every so many is also rendered."""
    renderer = Renderer(explorer)
    seen, every = set(), list(corners(explorer))
    for k, values in enumerate(every):
        result = explorer.compute(**explorer.complete(values))
        explorer.draw(result, renderer.artists)
        for name, artist in renderer.artists.items():
            assert np.isfinite(np.array(artist.get_data(), dtype=float)).all(), (name, values)
        if k % (1 + len(every) // 200) == 0:
            picture = Image.open(BytesIO(renderer.png(result)))
            assert picture.size == tuple(int(100 * inches) for inches in explorer.figsize)
        text = explorer.text(result)
        assert 40 < len(text) < 900 and "nan" not in text and "inf " not in text, (values, text)
        seen.add(text)
    assert len(seen) > 10, "the controls change what is said"


def test_the_same_values_give_the_same_picture_whatever_came_before(explorer):
    renderer = Renderer(explorer)
    start = explorer.compute(**explorer.start)
    first = renderer.png(start)
    last = list(corners(explorer))[-1]
    assert renderer.png(explorer.compute(**last)) != first
    assert renderer.png(start) == first
    np.testing.assert_array_equal(start.q, explorer.compute(**explorer.start).q)


def test_presets_and_starts_are_possible(explorer):
    for values in (explorer.start, *explorer.presets.values()):
        explorer.complete(values)
    for control in explorer.controls:
        assert control.admits(control.start) and all(map(control.admits, control.ends))


def test_the_live_picture_follows_every_control(explorer):
    live = LiveExplorer(explorer)
    for control in explorer.controls:
        live.set(explorer.start)
        before = live.picture.serial, live.picture.png, live.picture.text
        value = next(value for value in reversed(control.ends) if value != control.start)
        live.controls[control.name].value = value
        assert live.picture.serial == before[0] + 1
        if control.name not in ("alpha", "beta"):
            assert live.picture.png != before[1]
        assert live.picture.text != before[2] and live.picture.alt.endswith(live.picture.text)


def test_the_live_picture_is_the_pure_computation(explorer):
    live = LiveExplorer(explorer)
    values = {control.name: control.ends[-1] for control in explorer.controls}
    live.set(values)
    assert live.picture.text == explorer.text(explorer.compute(**values))


def test_buttons_set_all_values_and_draw_once(explorer):
    live = LiveExplorer(explorer)
    buttons = {button.description: button for button in live.children[0].children[-1].children}
    assert set(buttons) == {"Reset", *explorer.presets}
    for name, values in explorer.presets.items():
        serial = live.picture.serial
        buttons[name].click()
        assert live.picture.serial == serial + 1
        assert {key: live.controls[key].value for key in values} == values
    buttons["Reset"].click()
    assert {name: control.value for name, control in live.controls.items()} == explorer.start


def test_a_handle_moves_its_slider_by_pointer_and_by_keys(explorer):
    live = LiveExplorer(explorer)
    for handle in explorer.handles:
        slider = live.controls[handle.name]
        shown = next(given for given in live.picture.handles if given["name"] == handle.name)
        assert 0 <= shown["across"] <= 1 and 0 <= shown["down"] <= 1 and shown["value"] == slider.value
        control = live._declared(handle.name)
        turn = 360 if control.full_turn else np.inf
        for value in control.ends:
            across, down = live._renderer.to_picture(handle.on, *handle.place({**explorer.start, handle.name: value}))
            live._moved(None, dict(name=handle.name, across=across, down=down), None)
            apart = abs(slider.value - value)
            assert min(apart, abs(turn - apart)) <= control.step / 2
            shown = next(given for given in live.picture.handles if given["name"] == handle.name)
            assert (shown["across"], shown["down"]) == pytest.approx((across, down), abs=0.01)
        live.set(explorer.start)
        serial, value = live.picture.serial, slider.value
        live._moved(None, dict(name=handle.name, steps=-2), None)
        assert slider.value == value - 2 * control.step and live.picture.serial > serial
        if control.full_turn:
            live._moved(None, dict(name=handle.name, steps=360), None)
            assert slider.value == value - 2 * control.step
            continue
        live._moved(None, dict(name=handle.name, steps=10_000), None)
        assert slider.value == control.high
        serial = live.picture.serial
        live._moved(None, dict(name=handle.name, steps=1), None)
        assert live.picture.serial == serial + 1, "the browser gets its answer at the end of the range too"


def test_two_views_of_one_explorer_do_not_disturb_each_other(explorer):
    one, other = LiveExplorer(explorer), LiveExplorer(explorer)
    untouched = other.picture.png
    one.set(next(iter(explorer.presets.values())))
    assert other.picture.png == untouched


def test_the_static_figure_describes_itself(explorer):
    figure = explorer.figure()
    assert figure.description == explorer.text(explorer.compute(**explorer.start))


@pytest.mark.parametrize(
    "values, sentence",
    [
        (dict(speed=1), "no control 'speed'; there are method, dt, alpha, beta, projection, start"),
        (dict(dt=0.2), "dt = 0.2 is not possible; it is a number from 1 ms to 100 ms, in SI units"),
        (dict(dt=float("nan")), "dt = nan is not possible"),
        (dict(dt="small"), "dt = 'small' is not possible"),
        (dict(method="euler"), "method = 'euler' is not possible; it is one of 'rk4', 'semi_implicit_euler'"),
    ],
)
def test_impossible_values_are_refused_in_a_sentence(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        cl.explore.drift().figure(**values)


def test_without_numba_a_long_run_is_shortened_and_says_so(monkeypatch):
    monkeypatch.setattr(codegen, "compiles", lambda: False)
    explorer = cl.explore.drift()
    run = explorer.compute(**explorer.complete(dict(dt=1e-3)))
    assert run.t[-1] == pytest.approx(2.0)
    assert explorer.text(run).endswith("Shortened to 2 s, since numba is not installed.")
    assert explorer.compute(**explorer.complete(dict(dt=0.02))).t[-1] == 10.0


def test_stops_stand_at_round_values_exactly():
    live = LiveExplorer(cl.explore.drift())
    dt = next(control for control in live.explorer.controls if control.name == "dt")
    assert isinstance(dt, Stops) and {0.001, 0.005, 0.01, 0.02, 0.1} <= {round(value, 12) for value in dt.values}
    for value in dt.values:
        live.controls["dt"].value = value
        assert live.controls["dt"].value == value and f"Δt = {1e3 * value:.3g} ms" in live.picture.text


def test_a_handle_of_an_angle_stops_at_its_end_instead_of_jumping_to_the_other():
    live = LiveExplorer(cl.explore.drift())
    (handle,) = live.explorer.handles
    live.controls["start"].value = 160.0
    across, down = live._renderer.to_picture(handle.on, *handle.place({"start": -175.0}))
    live._moved(None, dict(name="start", across=across, down=down), None)
    assert live.controls["start"].value == 170.0


def test_play_and_its_slider_stand_at_the_same_place(explorer):
    live = LiveExplorer(explorer)
    plays = [
        child
        for box in live.children[0].children
        for child in getattr(box, "children", ())
        if hasattr(child, "interval")
    ]
    assert len(plays) == (explorer.play is not None)
    for play in plays:
        control, slider = live._declared(explorer.play), live.controls[explorer.play]
        assert slider.value == control.start and play.value == round((control.start - control.low) / control.step)
        serial = live.picture.serial
        play.value += play.step
        assert slider.value == pytest.approx(control.start + play.step * control.step)
        assert live.picture.serial == serial + 1 and play.step * control.step > 0
        slider.value = control.high
        assert play.value == play.max
        play.value = play.min
        assert slider.value == control.low

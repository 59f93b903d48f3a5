"""Explorers in JupyterLab: fast enough, usable without eyes and without a mouse, and hard to upset."""

import numpy as np
import pytest

from chain_lib.explore.controls import Choice, Slider

from .lab import LiveExplorer, jupyterlab


def test_slider_to_picture(each, report):
    """A step by key: the median time to its picture. A drag: pictures per second, and the lag at its end.

    Whatever else the computer does makes them worse, never better. So up to three attempts count, and all are told.
    The drag is that of a slider with fine steps; where there are stops only, a drag cannot give a picture per move.
    """
    attempts = []
    sliding = [control for control in each.explorer.controls if not isinstance(control, Choice)]
    fine = [k for k, control in enumerate(sliding) if isinstance(control, Slider)]
    dragged = 1 if 1 in fine or not fine else fine[0]
    wanted = 12 if fine else 0
    while len(attempts) < 3:
        each.knobs[0].focus()
        times = [each.after(lambda key=key: each.page.keyboard.press(key)) for key in ["ArrowRight", "ArrowLeft"] * 10]
        drags = [each.drag(each.knobs[dragged], to=(distance, 0)) for distance in (50, -50) * 3]
        attempts.append((np.median(times), *np.median(drags, axis=0)))
        median, rate, lag = attempts[-1]
        if median <= 80 and rate >= wanted and lag <= 150:
            break
    words = [f"{median:.0f} ms; drag {rate:.0f} pictures/s, lag {lag:.0f} ms" for median, rate, lag in attempts]
    report(f"{each.title}, in JupyterLab: slider to picture {'; again: '.join(words)}")
    assert median <= 80 and rate >= wanted and lag <= 150


def test_nothing_serious_for_assistive_technology(each):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(each.page, context=".chain-lib-explorer").response["violations"]
    serious = [
        (rule["id"], rule["help"], rule["nodes"][0]["html"][:120])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_the_line_of_text_is_announced_and_the_description_follows(each):
    line, image = each.box.locator("[role=status]"), each.box.locator("img").first
    before = line.inner_text(), image.get_attribute("alt")
    each.knobs[0].focus()
    each.after(lambda: each.page.keyboard.press("PageUp"))
    assert line.inner_text() != before[0] and image.get_attribute("alt") != before[1]
    assert line.inner_text() in image.get_attribute("alt")
    sliding = [control for control in each.explorer.controls if not isinstance(control, Choice)]
    for control, knob in zip(sliding, each.knobs):
        assert knob.get_attribute("aria-label").startswith(control.label)
    for knob in each.knobs:
        assert (
            knob.get_attribute("role") == "slider"
            and knob.get_attribute("aria-label")
            and knob.get_attribute("aria-valuetext")
        )


def test_every_control_is_reached_with_the_tab_key(each):
    first = each.box.locator("select, .noUi-handle").first
    first.focus()
    reached = set()
    for _ in range(30):
        reached.add(each.page.evaluate("() => document.activeElement.className + document.activeElement.textContent"))
        each.page.keyboard.press("Tab")
    wanted = each.page.evaluate(
        """() => [...document.querySelectorAll('.chain-lib-explorer :is(select, button, .noUi-handle, .chain-lib-handle)')]
            .map(node => node.className + node.textContent)"""
    )
    assert set(wanted) <= reached


def test_a_handle_in_the_picture_is_dragged(each):
    for knob in each.box.locator(".chain-lib-handle").all():
        before, words = each.text(), knob.get_attribute("aria-valuetext")
        where = knob.bounding_box()
        each.drag(knob, to=(60, 60), moves=15)
        assert each.text() != before and knob.get_attribute("aria-valuetext") != words
        now = knob.bounding_box()
        assert np.hypot(now["x"] - where["x"], now["y"] - where["y"]) > 30


def test_play_moves_the_picture_until_it_is_paused(each):
    for play in each.box.locator(".widget-play").all():
        play.locator("button").first.click()
        before = each.seen()["pictures"]
        each.page.wait_for_timeout(1500)
        play.locator("button").first.click()
        each.settle()
        shown = each.seen()["pictures"]
        assert shown - before >= 8
        each.page.wait_for_timeout(600)
        assert each.seen()["pictures"] == shown


def test_two_hundred_moves_in_two_seconds_end_where_the_slider_stands(fresh):
    knob = fresh.knobs[0]
    knob.focus()
    for k in range(200):
        fresh.page.keyboard.press("ArrowRight" if k % 8 < 5 else "ArrowLeft", delay=0)
    fresh.settle()
    settled = fresh.text()
    fresh.after(lambda: fresh.page.keyboard.press("ArrowLeft"))
    fresh.after(lambda: fresh.page.keyboard.press("ArrowRight"))
    assert fresh.text() == settled


def test_no_false_alarm_about_the_kernel(fresh):
    """Nothing is said of the kernel while it is there: not at the start, nor after a button, nor at the end of a range."""
    patience = 3500
    fresh.page.wait_for_timeout(patience)
    assert "kernel" not in fresh.text()
    for button in fresh.buttons:
        fresh.after(button.click)
    fresh.knobs[0].focus()
    for key in ("End", "End", "Home", "Home", "Tab"):
        fresh.page.keyboard.press(key)
        fresh.settle()
    fresh.page.wait_for_timeout(patience)
    assert "kernel" not in fresh.text()


def test_two_views_show_the_same(fresh):
    fresh.notebook.command("notebook:create-output-view")
    fresh.page.wait_for_function("() => document.querySelectorAll('.chain-lib-explorer img').length === 2")
    fresh.page.wait_for_timeout(500)
    knob = fresh.knobs[0]
    knob.focus()
    fresh.after(lambda: fresh.page.keyboard.press("PageUp"))
    fresh.page.wait_for_timeout(300)
    texts = [line.inner_text() for line in fresh.page.locator(".chain-lib-explorer [role=status]").all()]
    assert len(texts) == 2 and texts[0] == texts[1]


def test_a_cell_run_twice_gives_one_live_explorer(fresh):
    fresh.notebook.run_all()
    again = LiveExplorer(fresh.notebook)
    again.knobs[0].focus()
    again.after(lambda: again.page.keyboard.press("PageUp"))
    assert again.page.locator(".chain-lib-explorer").count() == 1
    assert again.notebook.errors() == [] and again.notebook.complaints == []


@pytest.mark.parametrize("end", ["restart", "shut_down"])
def test_a_kernel_that_goes_is_told_and_running_again_repairs(fresh, end):
    fresh.knobs[0].focus()
    fresh.page.keyboard.press("PageUp")
    getattr(fresh.notebook, end)()
    fresh.page.wait_for_timeout(300)
    fresh.page.keyboard.press("ArrowLeft")
    told = "() => /kernel (is gone|does not answer)/.test(document.querySelector('.chain-lib-explorer [role=status]').textContent)"
    fresh.page.wait_for_function(told, timeout=15_000)
    assert "run the notebook's cells again" in fresh.text().lower()
    if end == "restart":
        fresh.notebook.run_all()
        again = LiveExplorer(fresh.notebook)
        again.knobs[0].focus()
        again.after(lambda: again.page.keyboard.press("PageUp"))
        assert "kernel" not in again.text()


def test_restart_and_run_all_with_a_cold_cache(chromium, tmp_path, lab_copy):
    """What a newcomer sees: everything is derived and compiled on the way, and nothing complains."""
    folder, notebook_of = lab_copy
    with jupyterlab(folder, tmp_path, CHAIN_LIB_CACHE=str(tmp_path / "cache"), CHAIN_LIB_QUIET="0") as address:
        notebook = notebook_of(address, "07_drift.ipynb")
        notebook.run_all()
        assert notebook.errors() == []
        explorer = LiveExplorer(notebook)
        explorer.knobs[0].focus()
        explorer.after(lambda: explorer.page.keyboard.press("PageUp"))
        assert notebook.complaints == []
        notebook.page.close()

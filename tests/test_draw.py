"""Figures: what a notebook shows, and what a reader without eyes gets."""

from io import BytesIO

import matplotlib
import numpy as np
import pytest
from PIL import Image

import chain_lib as cl
from chain_lib.draw import drift, start
from chain_lib.draw.figure import NOTEBOOK_DPI, Figure


@pytest.fixture(scope="module")
def run(bead):
    return cl.simulate(bead, [-1, 0], [0, 0], t_end=2.0, dt=0.02)


def figures(run):
    yield drift.sketch()
    yield drift.sketch(moving=True)
    yield start.four_bar_sketch()
    yield start.three_rpr_sketch()
    yield drift.path_and_gauges(run)
    yield drift.growth(run, slope=-2e-5)
    yield drift.residuals({"one": (run.t, run.position_residual), "other": (run.t, 0 * run.t)})


def test_every_figure_has_a_picture_and_a_description_of_its_own(run):
    descriptions = set()
    for figure in figures(run):
        data, metadata = figure._repr_mimebundle_()
        picture = Image.open(BytesIO(data["image/png"]))
        assert picture.width == round(NOTEBOOK_DPI * figure.get_figwidth())
        assert metadata["image/png"]["width"] == round(100 * figure.get_figwidth())
        assert (
            metadata["image/png"]["alt"] == figure.description and data["text/plain"] == f"Figure. {figure.description}"
        )
        descriptions.add(figure.description)
    assert len(descriptions) == 7 and Figure.description not in descriptions


def test_axes_are_labelled_with_units(run):
    for figure in (*figures(run),):
        for axes in (axes for axes in figure.axes if axes.axison):
            words = " ".join([axes.get_xlabel(), axes.get_ylabel(), axes.get_title("left")])
            assert "(" in words and ")" in words, words


def test_a_mechanism_is_drawn_with_equal_aspect(run):
    assert drift.sketch().axes[0].get_aspect() == drift.path_and_gauges(run).axes[0].get_aspect() == 1.0


def test_the_description_says_where_the_bead_is(bead):
    for outside, words in (
        (2e-3, "2 mm outside"),
        (-0.25, "0.25 m inside"),
        (3e-6, "3 µm outside"),
        (0.0, "within 0.1 nm of"),
    ):
        assert drift._place(outside).startswith(words)


def test_the_style_is_applied_on_import():
    assert matplotlib.rcParams["axes.spines.top"] is False and matplotlib.rcParams["figure.figsize"] == [7.5, 4.4]


def test_zeros_stand_on_the_floor_of_a_log_axis(run):
    artists = drift.setup(Figure())
    drift.draw(run, artists)
    assert run.position_residual[0] == 0.0
    assert artists["position_residual"].get_ydata()[0] == drift.FLOOR
    np.testing.assert_allclose(artists["bead"].get_xdata(), run.q[-1:, 0])


def test_the_map_links_what_is_written_and_marks_what_is_to_come(tmp_path):
    (tmp_path / "08_stabilization.ipynb").write_text("")
    course = start.CourseMap(tmp_path)
    html = course._repr_html_()
    assert html.count('<a href="') == 1 and 'href="08_stabilization.ipynb"' in html
    assert html.count("to come") == len(start.LESSONS) - 1
    assert html.count("<line ") == sum(len(lesson.builds_on) for lesson in start.LESSONS)
    assert "08 Stabilization:" in repr(course) and "07 Drift (to come):" in repr(course)


def test_no_two_lessons_stand_in_one_place_and_arrows_lead_to_later_lessons():
    assert len({lesson.place for lesson in start.LESSONS}) == len(start.LESSONS)
    for lesson in start.LESSONS:
        assert all(before < lesson.number for before in lesson.builds_on)


def test_the_four_bar_of_the_sketch_closes():
    lines = {
        line.get_color(): line.get_xydata()
        for line in start.four_bar_sketch().axes[0].lines
        if line.get_linewidth() == 4
    }
    crank, coupler, rocker = (lines[colour] for colour in ("#0072B2", "#E69F00", "#009E73"))
    np.testing.assert_allclose(coupler[1], rocker[1])
    np.testing.assert_allclose(crank[1], coupler[0])
    np.testing.assert_allclose(
        [np.linalg.norm(np.diff(bar, axis=0)) for bar in (crank, coupler, rocker)], [0.2, 0.4, 0.4]
    )

"""The graph: begun anywhere, widened, narrowed, walked and taken along as a picture; the list beside it does it too."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from looking import Window
from playwright.sync_api import Page, expect
from window.browser import until
from window.hands import fill, press, shows, tab_to, undo

BEGIN = "tests-fail-relation-orders-already"
STAGE_PADDING = 30  # pixels around the picture of the graph
DRAWN = "Number(document.querySelector('[data-nodes]')?.dataset.nodes)"


def taken_along(page: Page, form: str) -> bytes:
    """Return the picture that a button of the graph writes."""
    with page.expect_download() as waiting:
        press(page, page.get_by_role("button", name=form, exact=True))
    assert waiting.value.suggested_filename == f"helix-graph.{form.lower()}"
    return Path(waiting.value.path()).read_bytes()


@pytest.mark.soak
def test_the_graph_is_begun_chosen_from_and_widened_by_keyboard_alone(stocked: Window) -> None:
    with stocked.page("/graph") as page:
        tab_to(page, page.get_by_label("Begin at a name"))
        page.keyboard.type(BEGIN)
        page.keyboard.press("Enter")
        options = page.get_by_role("listbox", name="Nodes").get_by_role("option")
        expect(page).to_have_url(re.compile(f"start={BEGIN}"))
        expect(page.locator(".graph-filters")).to_be_visible()
        until(page, f"{DRAWN} > 2")
        few = page.evaluate(DRAWN)
        expect(options).to_have_count(few)
        tab_to(page, options.first)
        tab_to(page, options.filter(has_text="run-tests").first, "ArrowDown")
        page.keyboard.press("Enter")
        widen = page.get_by_role("button", name="Widen")
        expect(widen).to_be_visible()
        tab_to(page, widen)
        page.keyboard.press("Enter")
        until(page, f"{DRAWN} > {few}")
        expect(page).to_have_url(re.compile("also="))


@pytest.mark.soak
def test_a_community_of_the_overview_is_opened_by_pointer_and_by_keyboard(stocked: Window) -> None:
    with stocked.page("/graph") as page:
        largest = page.evaluate(
            """fetch('/graphql', {
                 method: 'POST',
                 headers: {'content-type': 'application/json'},
                 body: JSON.stringify({query: '{ graphOverview(limit: 60) { nodes { title size x y } } }'}),
               }).then(answer => answer.json()).then(({data}) => data.graphOverview.nodes[0])"""
        )
        box = page.locator(".canvas").bounding_box()
        assert box is not None
        half = min(box["width"], box["height"]) / 2 - STAGE_PADDING
        page.mouse.click(
            box["x"] + box["width"] / 2 + half * largest["x"], box["y"] + box["height"] / 2 - half * largest["y"]
        )
        expect(page).to_have_url(re.compile("community="))
        until(page, f"{DRAWN} === {largest['size']}")
        shows(page, f"One community of {largest['size']} nodes")
        press(page, page.get_by_role("button", name="Overview"))
        expect(page).not_to_have_url(re.compile("community="))
        options = page.get_by_role("listbox", name="Nodes").get_by_role("option")
        tab_to(page, options.filter(has_text=largest["title"][:40]).first)
        page.keyboard.press("Enter")
        shows(page, f"One community of {largest['size']} nodes")
    with stocked.page("/graph?community=Memory:nobody") as page:
        shows(page, "There is no such community now")


@pytest.mark.soak
def test_what_the_colours_mean_stands_beside_the_picture(stocked: Window) -> None:
    with stocked.page("/graph") as page:
        key = page.locator(".key")
        expect(key).to_contain_text("What is in the middle")
        expect(key).to_contain_text("memory")
        stocked.go(page, f"/graph?start={BEGIN}")
        expect(key).to_contain_text("entity")
        dots = page.locator(".node-list [role=option]", has_text="memory").locator("circle")
        meant = key.locator("span", has_text="memory").locator("circle").get_attribute("fill")
        assert {dot.get_attribute("fill") for dot in dots.all()} <= {meant}
        stocked.go(page, "/graph?q=why+does+the+parser+fail")
        expect(key).to_contain_text("where the walk of the question stays")


def test_an_edge_of_the_picture_is_asked_for_its_reason_by_pointer(stocked: Window) -> None:
    with stocked.page("/graph?start=npm-ci-fails-behind-proxy&relations=RELATED") as page:
        until(page, f"{DRAWN} > 1")
        drawing = ElementTree.fromstring(taken_along(page, "SVG"))
        line = next(part for part in drawing.iter() if part.tag.endswith("line"))
        (x1, x2), (y1, y2) = ([float(line.get(f"{axis}{end}", "")) for end in "12"] for axis in "xy")
        box = page.locator(".canvas").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + (x1 + x2) / 2, box["y"] + (y1 + y2) / 2)
        expect(page.locator(".edge-reason")).to_contain_text("weight")


@pytest.mark.soak
def test_a_browser_without_webgl_has_the_list_and_says_why_there_is_no_picture(stocked: Window) -> None:
    with stocked.elsewhere("--disable-3d-apis") as page:
        for path in ("/graph", f"/graph?start={BEGIN}"):
            stocked.go(page, path)
            shows(page, "This browser draws no graphs")
            expect(page.get_by_role("listbox", name="Nodes").get_by_role("option").first).to_be_visible()
            expect(page.get_by_role("button", name="PNG")).to_be_disabled()


@pytest.mark.soak
def test_a_way_is_found_and_what_is_drawn_is_narrowed(stocked: Window) -> None:
    with stocked.page(f"/graph?start={BEGIN}") as page:
        until(page, f"{DRAWN} > 2")
        few = page.evaluate(DRAWN)
        fill(page, page.get_by_label("Find the way to"), "cart-kept-redis-30-days")
        press(page, page.get_by_role("button", name="Show", exact=True))
        expect(page).to_have_url(re.compile("to=cart"))
        until(page, f"{DRAWN} > {few} || document.querySelector('.edge')")
        press(page, page.get_by_role("checkbox", name="memory"), "Space")
        expect(page).to_have_url(re.compile("labels=MEMORY"))
        until(page, f"{DRAWN} < {few}")
        tab_to(page, page.get_by_role("slider"))
        for key, place in (("Home", "min"), ("End", "max")):
            page.keyboard.press(key)
            until(page, f"(time => time.value === time.{place})(document.querySelector('input[type=range]'))")
            expect(page).to_have_url(re.compile("until=" if key == "Home" else "labels=MEMORY$"))
        page.keyboard.press("ArrowLeft")
        expect(page).to_have_url(re.compile("until="))


@pytest.mark.soak
def test_a_name_that_nothing_has_is_said_with_what_is_like_it_and_the_question(stocked: Window) -> None:
    with stocked.page("/graph?start=parser.py") as page:
        shows(page, "There is no node called “parser.py”.")
        press(page, page.get_by_role("button", name="src/parser.py"))
        expect(page.locator(".graph-filters")).to_be_visible()
        stocked.go(page, "/graph?start=parser.py")
        press(page, page.get_by_role("button", name="Walk the graph for it as a question"))
        expect(page).to_have_url(re.compile(r"q=parser\.py"))
        expect(page).not_to_have_url(re.compile("start="))


@pytest.mark.soak
def test_a_file_is_begun_at_and_gone_to_by_its_path(stocked: Window) -> None:
    with stocked.page("/graph?start=src/parser.py") as page:
        nodes = page.get_by_role("listbox", name="Nodes").get_by_role("option")
        expect(nodes.filter(has_text=re.compile("parser.*entity")).first).to_be_visible()
        expect(page).to_have_url(re.compile("start=[0-9a-f-]{32}"))
        stocked.go(page, f"/graph?start={BEGIN}&to=src/parser.py")
        expect(page).to_have_url(re.compile(f"start={BEGIN}&to=[0-9a-f-]{{32}}"))
        expect(page.locator(".graph-filters")).to_be_visible()


@pytest.mark.soak
def test_the_walk_of_a_question_leads_to_a_node_and_the_reason_of_its_edge(stocked: Window) -> None:
    with stocked.page("/graph?q=why+does+the+parser+fail") as page:
        press(page, page.get_by_role("listbox", name="Nodes").get_by_role("option").first)
        edge = page.get_by_role("complementary", name="The graph as a list").locator("li .link[aria-expanded]").first
        press(page, edge)
        expect(page.locator(".edge-reason")).to_contain_text("weight")


@pytest.mark.soak
def test_an_edge_that_was_drawn_by_hand_is_taken_back_where_its_reason_stands(stocked: Window) -> None:
    with stocked.page("/graph?start=npm-ci-fails-behind-proxy&relations=RELATED") as page:
        options = page.get_by_role("listbox", name="Nodes").get_by_role("option")
        tab_to(page, options.first)
        tab_to(page, options.filter(has_text="npm-ci-fails").first, "ArrowDown")
        page.keyboard.press("Enter")
        beside = page.get_by_role("complementary", name="The graph as a list")
        press(page, beside.locator("li .link[aria-expanded]", has_text="use-tabs"))
        shows(page, "Drawn by a person.")
        press(page, beside.get_by_role("button", name="Take back “related”"))
        expect(beside.locator("li .link[aria-expanded]", has_text="use-tabs")).to_have_count(0)
        undo(page, "The edge “related” is taken back.")
        expect(beside.locator("li .link[aria-expanded]", has_text="use-tabs")).to_have_count(1)


@pytest.mark.soak
def test_pictures_of_hostile_titles_are_well_formed(stocked: Window) -> None:
    with stocked.page("/graph?q=script+emoji+override+link&scope=hostile") as page:
        shows(page, "onerror")
        assert taken_along(page, "PNG").startswith(b"\x89PNG")
        drawing = ElementTree.fromstring(taken_along(page, "SVG"))
        names = {part.tag.rpartition("}")[2] for part in drawing.iter()}
        assert names == {"svg", "g", "line", "circle", "text"}
        assert any("<img src=x onerror=" in (part.text or "") for part in drawing.iter())

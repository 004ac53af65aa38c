"""Places in lists: what a page gives as `next` is taken as `after`, and nothing else is."""

import pytest

from services.kit.errors import PlatformError
from services.kit.paging import Place


def test_a_place_comes_back_as_it_was() -> None:
    place = Place(1_790_000_000_123_456, "a-b_C9")
    assert Place.parse(place.format()) == place


@pytest.mark.parametrize(
    "text",
    ["", "5", "5.", ".g", "x.g", "5.g g", "5.<script>", "5.g\n", "f" * 16 + ".g", "5." + "g" * 65],
)
def test_a_place_that_no_page_gave_is_refused(text: str) -> None:
    with pytest.raises(PlatformError) as caught:
        Place.parse(text)
    assert caught.value.reason == "MALFORMED_REQUEST"

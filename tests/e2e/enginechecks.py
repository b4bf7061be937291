"""What every engine must have done with the story that it lived through."""

import pytest

from tests.e2e.enginestory import HELD, TITLE, Story
from tests.e2e.heldobjects import AUTOSCALER
from tests.e2e.owners import IN_GIT, KEPT, OMITTED, RESET
from tests.e2e.windows import GRACE, MINUTE

APPLIED = 90  # seconds within which our engines of the tests put something right
EDIT = 60  # seconds within which an edit of the timetable acts


def of_reservation(name: str, resource_class: str = "small") -> list[str]:
    kinds = ("configmap", "cronjob", "role", "rolebinding", "serviceaccount")
    return [f"deployment/{name}-{resource_class}", *(f"{kind}/{name}" for kind in kinds)]


class EngineChecks:
    manager: str  # how the name of the engine's field manager begins
    advice: str  # a word of what is told about a number that it resets

    @pytest.mark.short_story
    def test_the_first_sync_makes_everything_with_no_seats(self, story: Story) -> None:
        pools = ("course", "edited", "gone", "before")
        expected = [*story.seen["base"], *(one for name in pools for one in of_reservation(name))]

        assert story.seen["first"] == sorted([*expected, *of_reservation("stuck", "lost")])
        assert story.seen["replicas at first"] == {
            **{f"{name}-small": 0 for name in pools},
            "stuck-lost": 0,
        }

    @pytest.mark.short_story
    def test_what_people_wrote_is_no_expression(self, story: Story) -> None:
        assert story.seen["title"] == TITLE

    @pytest.mark.short_story
    def test_a_window_opens_on_time(self, story: Story) -> None:
        (_, closed), (at, wanted) = story.record.changes("course-small")

        assert (closed, wanted) == (0, 5)
        assert -1 <= at - story.opens <= GRACE

    @pytest.mark.short_story
    def test_nothing_resets_the_seats_of_an_open_window(self, story: Story) -> None:
        """Neither a self-heal, a new template, a hard look, an upgrade nor an outage: not for a moment."""
        wanted = story.record.between("course-small", story.moments["open"], story.moments["last removed"])

        assert wanted == [5]

    def test_what_is_edited_by_hand_is_put_back_but_for_the_seats(self, story: Story) -> None:
        assert story.moments["put back"] - story.moments["edited by hand"] <= APPLIED

    def test_a_new_template_reaches_a_pool_that_is_open(self, story: Story) -> None:
        assert story.seen["template"] == {"cpu": "150m", "memory": "64Mi"}
        assert story.seen["after a hard look"] == {
            "course-small": 5,
            "edited-small": 9,
            "late-small": 6,
            "after-small": 4,
            "stuck-lost": 2,
        }

    def test_a_reservation_is_changed_while_it_is_open(self, story: Story) -> None:
        changes = [(at, wanted) for at, wanted in story.record.changes("edited-small") if wanted]

        assert [wanted for _, wanted in changes] == [7, 9]
        assert changes[1][0] - story.moments["changed applied"] <= EDIT

    def test_a_reservation_that_is_added_in_its_window_opens(self, story: Story) -> None:
        """By the sweep: the minute of its CronJob is over."""
        assert story.record.steps("late-small") == [0, 6]

    def test_a_reservation_that_is_removed_gives_its_seats_back_at_once(self, story: Story) -> None:
        assert story.record.steps("gone-small") == [0, 3]  # and then there is no such pool
        assert story.moments["removed"] - story.moments["changed applied"] <= GRACE

    def test_a_renamed_reservation_is_one_removed_and_one_added(self, story: Story) -> None:
        assert story.record.steps("before-small") == [0, 4]
        assert story.record.steps("after-small") == [0, 4]

    def test_a_commit_that_is_refused_leaves_the_seats(self, story: Story) -> None:
        assert story.seen["after the refusal"] == story.seen["after a hard look"]

    @pytest.mark.short_story
    def test_an_upgrade_changes_every_object_and_no_seats(self, story: Story) -> None:
        new = story.seen["after the upgrade"].keys() - story.seen["before the upgrade"].keys()

        assert story.seen["not upgraded"] == []
        assert story.seen["after the upgrade"] == story.seen["before the upgrade"] | dict.fromkeys(new, 0)
        assert story.seen["before the upgrade"]["course-small"] == 5

    def test_a_window_needs_no_engine(self, story: Story) -> None:
        """The engine is down from before it opens until after it ends, and resets nothing when it is back."""
        opens = story.moments["alone opens"]
        (_, _), (up, wanted), (down, ended), *more = story.record.changes("alone-small")

        assert (wanted, ended, more) == (8, 0, [])
        assert -1 <= up - opens <= GRACE
        assert -1 <= down - opens - MINUTE <= GRACE
        assert story.moments["stopped"] < opens
        assert story.moments["started"] > down
        assert story.seen["after the outage"] == story.seen["after the upgrade"]

    def test_a_second_site_in_the_same_engine_keeps_its_seats_too(self, story: Story) -> None:
        """It reaches the cluster by another address, and the engine applies its own objects itself."""
        steps = story.neighbours.steps("guests-small")

        assert (steps[-1], steps.count(3)) == (3, 1)
        assert story.seen["cpu of the neighbour"] == "150m"

    def test_a_number_that_the_engine_is_told_to_leave_alone_is_held(self, story: Story) -> None:
        """Also through a sync of its object; and so is one that is not in git."""
        assert story.numbers.steps(f"{AUTOSCALER}/{KEPT}") == [IN_GIT, HELD, IN_GIT]
        assert story.numbers.steps(f"{AUTOSCALER}/{OMITTED}") == [1, HELD, 1]

    def test_a_number_that_the_engine_resets_is_told_with_what_to_do(self, story: Story) -> None:
        ((reservation, message),) = story.seen["resets"]

        assert reservation == f"hold-{RESET}"
        assert message.startswith(self.manager)
        assert self.advice in message
        steps = story.numbers.steps(f"{AUTOSCALER}/{RESET}")
        assert set(steps) == {IN_GIT, HELD}
        assert steps[-1] == IN_GIT

    def test_the_engine_applies_permissions_in_the_owners_namespace_and_prunes_them(
        self, story: Story
    ) -> None:
        roles = [role for role in story.seen["roles of the owner's"] if "hold-" in role]

        assert len(roles) == 6
        assert [role for role in story.seen["roles that were not pruned"] if "hold-" in role] == []

    def test_what_tells_of_a_number_outlives_its_reservation(self, story: Story) -> None:
        assert story.seen["targets that were not pruned"].count("target") == 3

    @pytest.mark.short_story
    def test_the_last_reservation_goes_and_the_base_stays(self, story: Story) -> None:
        assert story.seen["left"] == story.seen["base"]
        assert story.moments["all gone"] - story.moments["emptied applied"] <= GRACE

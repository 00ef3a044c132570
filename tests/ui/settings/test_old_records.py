"""What is said of folders that could not be looked at for old records."""

from lineclear.core.inbox.rows.old_records import Old
from lineclear.ui.settings import old_records


def test_of_many_folders_one_is_named_and_the_others_are_counted():
    left = tuple(f"/srv/bots/{n} is another user's, who alone may tidy it." for n in range(256))
    told = old_records.found(Old(30, left=left))
    assert "/srv/bots/0 is another user's" in told
    assert told.endswith("255 more folders are left as they are.")
    assert "/srv/bots/1 " not in told

#!/usr/bin/env python3
"""The rules of suites.py: which suites a change runs, and which proofs count."""
import contextlib
import datetime
import io
import os
import subprocess
import sys
import tempfile
import unittest

import costs
import counts
import growth
import proofs
import suites

TODAY = datetime.date(2026, 11, 29)
HEAD = "suite\ttest\tall\tfull\tneeds\tinputs\tcommand\tproves\n"
ROWS = (
    "quick\tyes\tyes\tyes\t-\t*\techo 'test result: ok. 2 passed; 0 failed; 0 ignored'\tx\n"
    "size\tyes N=1\tyes N=2\tyes N=3\t-\t*\t-\tx\n"
    "long\tno\tunproved\tyes\t-\tone two/b\techo 3 passed, 0 failed\tx\n"
    "shared\tpart\tunproved part\tyes\t-\ttwo\techo $ANNALS_PART; echo 4 passed, 0 failed\tx\n"
    "java\tchanged\tyes\tyes\t-\tone\techo 5 passed, 0 failed\tx\n"
    "campaign\tno\tno\tyes beside\t-\ttwo\techo 6 passed, 0 failed\tx\n"
)


class Checkout:
    """A repository with suites of which one commit has landed."""

    def __init__(self, folder):
        self.root = folder
        for name in (".ci", "two"):
            os.mkdir(os.path.join(folder, name))
        self.git("init", "-q")
        self.write(proofs.SUITES, HEAD + ROWS)
        for name in ("one", "two/a", "two/b", "three"):
            self.write(name, "first")
        self.commit()

    def git(self, *arguments):
        name = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *name, *arguments], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name, text):
        os.makedirs(os.path.dirname(os.path.join(self.root, name)), exist_ok=True)
        with open(os.path.join(self.root, name), "w") as file:
            file.write(text)

    def text(self, name):
        with open(os.path.join(self.root, name)) as file:
            return file.read()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def read(self, today=TODAY):
        return proofs.Repository(self.root, today)

    def land(self):
        """The present commit lands, and the next one notes it."""
        self.read().land("HEAD")
        return self.commit()

    def prove(self, today=TODAY):
        """All long suites pass, and their proofs are committed."""
        found = self.read(today)
        for suite in found.suites:
            if suite.is_proved:
                found.keep(suite, found.inputs_hash(suite, "HEAD"), 1, counts.Counts(7))
        return self.commit()

    def chosen(self, mode="all", today=TODAY):
        found = suites.choose(self.read(today), mode, None)[0]
        return [suite.name + ("/part" if is_part else "") for suite, is_part in found]


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = Checkout(folder.name)

    def proved(self):
        """A checkout whose proofs have landed."""
        self.checkout.prove()
        self.checkout.land()

    def refuses(self, text, call=None):
        with self.assertRaises(proofs.Failure) as raised:
            (call or self.checkout.read().check_proofs)()
        self.assertIn(text, str(raised.exception))

    def change_proof(self, name, column, value):
        lines = [line.split("\t") for line in self.checkout.text(proofs.PROOFS).splitlines()]
        row = next(row for row in lines if row[0] == name)
        row[lines[0].index(column)] = value
        self.checkout.write(proofs.PROOFS, "\n".join("\t".join(line) for line in lines) + "\n")

    def test_a_landing_runs_all_but_campaigns_until_proofs_have_landed(self):
        whole = ["quick", "long", "shared", "java"]
        self.assertEqual(self.checkout.chosen(), whole)
        self.checkout.land()
        self.checkout.prove()
        self.assertEqual(self.checkout.chosen(), whole, "a proof counts only after the landing that brought it")
        self.checkout.land()
        self.assertEqual(self.checkout.chosen(), ["quick", "shared/part", "java"])

    def test_full_runs_everything(self):
        self.proved()
        self.assertEqual(self.checkout.chosen("full"), ["quick", "long", "shared", "java", "campaign"])

    def test_a_change_of_an_input_runs_its_suites(self):
        self.proved()
        for name, expected in (("three", []), ("one", ["long"]), ("two/a", ["shared"]), ("two/b", ["long", "shared"])):
            with self.subTest(name):
                before = self.checkout.text(name)
                self.checkout.write(name, "second")
                proved = [suite for suite in self.checkout.chosen() if suite in ("long", "shared")]
                self.assertEqual(proved, expected)
                self.checkout.write(name, before)

    def test_new_files_and_other_commands_are_changes(self):
        self.proved()
        self.checkout.write("two/c", "new")
        self.assertIn("shared", self.checkout.chosen())
        os.remove(os.path.join(self.checkout.root, "two/c"))
        self.checkout.write(proofs.SUITES, (HEAD + ROWS).replace("echo 3 passed", "echo 30 passed"))
        self.assertIn("long", self.checkout.chosen())

    def test_changed_suites_run_in_each_test_only_after_a_change(self):
        self.proved()
        self.assertEqual(self.checkout.chosen("test"), ["quick", "shared/part"])
        self.checkout.write("one", "second")
        self.assertEqual(self.checkout.chosen("test"), ["quick", "shared/part", "java"])

    def test_in_a_clone_changes_are_those_since_main_of_its_origin(self):
        self.checkout.land()
        self.checkout.write("one", "second")
        self.checkout.commit()
        self.assertIn("java", self.checkout.chosen("test"))
        self.checkout.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertNotIn("java", self.checkout.chosen("test"))
        self.checkout.write("one", "third")
        self.assertIn("java", self.checkout.chosen("test"))

    def test_without_its_history_everything_that_may_have_changed_runs(self):
        self.checkout.write(proofs.LANDINGS, "commit\tday\n" + "a" * 40 + "\t2026-11-01\n")
        self.assertIn("java", self.checkout.chosen("test"))
        self.assertIn("long", self.checkout.chosen("all"))

    def test_every_long_suite_needs_a_proof(self):
        self.assertIn("warning: long: it is new and has no proof; the next landing fails without: ./test --suite 'long'", self.checkout.read().check_proofs())
        self.checkout.land()
        self.refuses("long: no proof; run: ./test --suite 'long'")
        self.checkout.prove()
        self.assertEqual(self.checkout.read().check_proofs(), [])
        rows = self.checkout.text(proofs.PROOFS).splitlines()
        self.checkout.write(proofs.PROOFS, "\n".join(row for row in rows if not row.startswith("campaign")) + "\n")
        self.refuses("campaign: no proof")

    def test_forged_proofs_are_refused(self):
        self.checkout.prove()
        good = self.checkout.text(proofs.PROOFS)
        head = self.checkout.git("rev-parse", "HEAD")
        for column, value, text in (
            ("inputs", "0" * 32, "expected the hash of the inputs"),
            ("commit", "b" * 40, "expected a commit of this history"),
            ("commit", "HEAD", "expected a commit of this history"),
            ("passed", "0", "expected tests that passed"),
            ("failed", "1", "none that failed"),
            ("day", "2026-11-30", "expected a day until 2026-11-29"),
        ):
            with self.subTest(column):
                self.change_proof("long", column, value)
                self.refuses(text)
                self.checkout.write(proofs.PROOFS, good)
        self.checkout.write("one", "second")
        self.checkout.commit()
        self.change_proof("long", "commit", self.checkout.git("rev-parse", "HEAD"))
        self.refuses("expected the hash of the inputs")
        self.change_proof("long", "commit", head)
        self.assertEqual(self.checkout.read().check_proofs(), [])
        self.checkout.write(proofs.PROOFS, good + good.splitlines()[1].replace("long", "none") + "\n")
        self.refuses("expected the name of a long suite, found none")

    def test_a_proof_is_too_old_after_thirty_landings_and_warns_after_three_days(self):
        self.checkout.prove()
        for _ in range(proofs.LANDINGS_MAX):
            self.checkout.land()
        self.assertEqual(self.checkout.read().check_proofs(), [])
        self.checkout.land()
        self.refuses("long: its proof is 31 landings old")
        self.checkout.prove(TODAY + datetime.timedelta(3))
        self.assertEqual(self.checkout.read(TODAY + datetime.timedelta(6)).check_proofs(), [])
        warnings = self.checkout.read(TODAY + datetime.timedelta(7)).check_proofs()
        self.assertIn("warning: long: its proof is 4 days old; run: ./test --full", warnings)

    def test_landings_only_grow(self):
        self.proved()
        good = self.checkout.text(proofs.LANDINGS)
        head = self.checkout.git("rev-parse", "HEAD")
        self.checkout.write("three", "second")
        other = self.checkout.commit()
        self.checkout.git("reset", "-q", "--hard", head)
        self.checkout.write(proofs.LANDINGS, good + f"{other}\t2026-11-29\n")
        self.refuses("expected a commit of this history", self.checkout.read)
        self.checkout.write(proofs.LANDINGS, f"commit\tday\n{head}\t2026-11-29\n")
        self.refuses("expected the rows that", self.checkout.read)

    def test_a_release_needs_proofs_of_its_own_files(self):
        self.checkout.prove()
        self.checkout.read().check_own()
        self.checkout.write("two/a", "second")
        self.refuses("found older ones of: shared, campaign", self.checkout.read().check_own)

    def quietly(self, call):
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())) as out:
            call()
            out.flush()
            return out.buffer.getvalue().decode()

    def test_a_full_run_keeps_proofs_of_what_is_committed(self):
        self.checkout.write(".gitignore", "target\n")
        self.checkout.commit()
        os.environ["CARGO_TARGET_DIR"] = os.path.join(self.checkout.root, "target")
        self.addCleanup(os.environ.pop, "CARGO_TARGET_DIR")
        repository = self.checkout.read()
        out = self.quietly(lambda: suites.Run(repository, "full").run_all(suites.choose(repository, "full", None)[0]))
        self.assertIn("-- campaign: 0 s, 6 passed", out)
        self.assertEqual(repository.check_proofs(), [])
        kept = proofs.read_proofs(self.checkout.text(proofs.PROOFS))
        self.assertEqual({name: proof.passed for name, proof in kept.items()}, {"long": "3", "shared": "4", "campaign": "6"})
        self.checkout.write("one", "not committed")
        out = self.quietly(lambda: suites.Run(repository, "full").run_all([(repository.suite("long"), False)]))
        self.assertIn("no proof is kept of long", out)

    def test_a_suite_fails_by_its_code_its_counts_and_without_counts(self):
        os.environ["CARGO_TARGET_DIR"] = os.path.join(self.checkout.root, "target")
        self.addCleanup(os.environ.pop, "CARGO_TARGET_DIR")
        for command, text in (("echo 3 passed, 0 failed; false", "failed: long"), ("echo 3 passed, 1 failed", "failed: long"),
                              ("true", "expected lines that count its tests")):
            with self.subTest(command):
                self.checkout.write(proofs.SUITES, (HEAD + ROWS).replace("echo 3 passed, 0 failed", command))
                repository = self.checkout.read()
                self.refuses(text, lambda: self.quietly(lambda: suites.Run(repository, "all").run_all([(repository.suite("long"), False)])))

    def test_a_landing_that_grows_says_why(self):
        self.checkout.write("three", "first")
        self.checkout.land()
        self.checkout.write("a.rs", "line\n" * growth.LINES_MAX)
        self.checkout.write("two/tests.rs", "line\n" * 9)
        self.assertIn("+1500 lines", growth.check(self.checkout.read()))
        self.checkout.write("b.rs", "line\n")
        self.checkout.commit()
        self.refuses("have 1501 lines more", lambda: growth.check(self.checkout.read()))
        self.checkout.git("commit", "-q", "--allow-empty", "-m", "x\n\nGrown: a store of its own")
        self.assertIn("+1501 lines", growth.check(self.checkout.read()))
        self.assertIn("a store of its own", growth.check(self.checkout.read()))

    def test_a_landing_whose_reads_take_more_says_why(self):
        cost = costs.cost
        row = lambda instructions: cost.Cost("get", 10, instructions, 1.0, 0.0, 0.0)
        kept = lambda instructions: ("rustc 1", {"get": row(instructions)})
        check = lambda instructions, compiler="rustc 1": costs.check(self.checkout.read(), [row(instructions)], compiler, kept(instructions))
        self.checkout.write(cost.KEPT, "# rustc 1\nline\toperations\tinstructions\tfirst misses\tlast misses\tbeside\nget\t10\t100.0\t1.00\t0.00\t0\n")
        self.checkout.commit()
        self.checkout.land()
        self.assertIn("1.040", check(104.0))
        self.refuses("get takes 106 instructions, 6% more than 100", lambda: check(106.0))
        self.assertIn("not compared", check(106.0, "rustc 2"))
        self.refuses("has other figures of get", lambda: costs.check(self.checkout.read(), [row(90.0)], "rustc 1", kept(100.0)))
        self.checkout.git("commit", "-q", "--allow-empty", "-m", "x\n\nCosts: a look-up asks for grants")
        self.assertIn("a look-up asks for grants", check(106.0))

    def test_counts_are_read_from_all_runners(self):
        lines = ["test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s",
                 "     Summary [ 655.321s] 1649 tests run: 1648 passed (3 slow), 1 failed, 2 skipped",
                 "[INFO] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 3 s -- in dev.annals.OneTest",
                 "[WARNING] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1",
                 "webac: 7 passed, 0 failed, 2 skipped", "3 passed, 0 failed", "and 3 passed, 0 failed"]
        self.assertEqual(counts.read(lines), counts.Counts(10 + 1648 + 2 + 7 + 3, 1 + 2, 1 + 2 + 1 + 2))


class Ours(unittest.TestCase):
    """What holds for the suites of this repository."""

    def setUp(self):
        self.repository = proofs.Repository(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), TODAY)

    def test_every_input_is_there_and_a_change_of_it_changes_the_hash(self):
        self.repository.check_inputs()
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GIT_INDEX_FILE=os.path.join(folder, "index"))
            git = lambda *arguments: self.repository.git(*arguments, environment=environment)
            git("read-tree", self.repository.tree())
            whole = git("write-tree")
            names = git("ls-files").splitlines()
            other = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
            for suite in self.repository.suites:
                was = self.repository.inputs_hash(suite, whole)
                for path in self.repository.paths(suite):
                    one = next(name for name in names if name == path or name.startswith(path + "/"))
                    mode, blob = git("ls-files", "--stage", "--", one).split()[:2]
                    git("update-index", "--cacheinfo", f"{mode},{other},{one}")
                    self.assertNotEqual(self.repository.inputs_hash(suite, git("write-tree", "--missing-ok")), was, f"{suite.name}: {one}")
                    git("update-index", "--cacheinfo", f"{mode},{blob},{one}")

    def test_proofs_and_landings_are_inputs_of_no_long_suite(self):
        for suite in self.repository.suites:
            if suite.is_proved:
                for name in (proofs.PROOFS, proofs.LANDINGS):
                    self.assertFalse(any(name == path or name.startswith(path + "/") for path in suite.inputs) or suite.inputs == ("*",), suite.name)


if __name__ == "__main__":
    # The plain line that counts, beside what unittest prints.
    done = unittest.main(exit=False, warnings="ignore").result
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed")
    sys.exit(not done.wasSuccessful())

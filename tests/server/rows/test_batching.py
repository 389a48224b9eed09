"""Small requests that arrive together are computed together."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from suffice.server.rows.batching import ALONE, IN_LOOP, Batcher


class Squares:
    """Computes squares, and remembers the batches."""

    def __init__(self):
        self.batches = []
        self.threads = set()
        self.gate = None

    def __call__(self, items):
        self.batches.append(list(items))
        self.threads.add(threading.current_thread())
        if self.gate is not None:
            assert self.gate.wait(10)
        return [ValueError(f"{each} is bad") if each < 0 else each * each for each in items]


@pytest.fixture(scope="module")
def executor():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_items_of_one_turn_are_one_batch(executor):
    run = Squares()

    async def main():
        batcher = Batcher(run, executor)
        return [await asyncio.gather(*map(batcher.result, range(20))) for _ in range(3)]

    assert asyncio.run(main()) == [[each * each for each in range(20)]] * 3
    assert max(map(len, run.batches[1:])) >= 19  # the first item of all was answered at once
    assert run.threads == {threading.current_thread()}


def test_items_one_by_one_are_answered_at_once(executor):
    run = Squares()

    async def main():
        batcher = Batcher(run, executor)
        coroutine = batcher.result(3)
        with pytest.raises(StopIteration) as done:
            coroutine.send(None)  # it never waits
        assert done.value.value == 9
        await asyncio.gather(*map(batcher.result, range(5)))
        for each in range(ALONE + 1):
            assert await batcher.result(each) == each * each
            await asyncio.sleep(0)
        coroutine = batcher.result(4)
        with pytest.raises(StopIteration):
            coroutine.send(None)

    asyncio.run(main())


def test_an_error_is_that_of_its_item_alone(executor):
    async def main():
        batcher = Batcher(Squares(), executor)
        return await asyncio.gather(*map(batcher.result, [1, -2, 3, -4]), return_exceptions=True)

    found = asyncio.run(main())
    assert (found[0], found[2]) == (1, 9)
    assert [str(each) for each in found[1::2]] == ["-2 is bad", "-4 is bad"]


def test_an_error_of_the_batch_is_that_of_all_its_items(executor):
    def broken(items):
        raise KeyError("broken")

    async def main():
        batcher = Batcher(broken, executor)
        for _ in range(2):
            found = await asyncio.gather(*map(batcher.result, range(3)), return_exceptions=True)
            assert [type(each) for each in found] == [KeyError] * 3

    asyncio.run(main())


def test_long_batches_run_in_a_thread_and_the_loop_goes_on(executor):
    run = Squares()

    async def main():
        batcher = Batcher(run, executor)
        batcher.note_seconds(100 * IN_LOOP)
        run.gate = threading.Event()
        first = asyncio.create_task(batcher.result(2))
        await asyncio.sleep(0.01)
        later = [asyncio.create_task(batcher.result(each)) for each in range(5)]
        await asyncio.sleep(0.01)
        assert run.batches == [[2]]  # the others wait for it, together
        run.gate.set()
        assert await first == 4
        assert await asyncio.gather(*later) == [0, 1, 4, 9, 16]

    asyncio.run(main())
    assert run.batches == [[2], [0, 1, 2, 3, 4]]
    assert threading.current_thread() not in run.threads


def test_a_client_that_left_does_not_disturb_the_others(executor):
    run = Squares()

    async def main():
        batcher = Batcher(run, executor)
        await batcher.result(1)
        tasks = [asyncio.create_task(batcher.result(each)) for each in range(4)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert found[:2] + found[3:] == [0, 1, 9]

    asyncio.run(main())


def test_a_batch_has_at_most_so_many_items(executor):
    run = Squares()

    async def main():
        batcher = Batcher(run, executor, most=4)
        await batcher.result(0)
        return await asyncio.gather(*map(batcher.result, range(10)))

    assert asyncio.run(main()) == [each * each for each in range(10)]
    assert max(map(len, run.batches)) == 4

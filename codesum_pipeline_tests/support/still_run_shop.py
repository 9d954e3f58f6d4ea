"""Tests that look as if they replaced something of the mocked shop while it runs, and run the original all the same."""

# Of each way to end a replacement, or to replace something else, a test that runs `round_cents`.
STILL_RUN = {
    "a_class_of_a_library_with_the_same_name": """
        @patch("library.Bank.send")
        def test_it(mocked):
            assert pay(1)
    """,
    "a_module_of_a_library_with_the_same_name": """
        @patch("orders.with_tax")
        def test_it(mocked):
            assert total(1)
    """,
    "a_parameter_that_hides_the_module": """
        @pytest.mark.parametrize("orders", [mock.Mock()])
        def test_it(orders):
            orders.with_tax = lambda amount: 1
            assert total(1)
    """,
    "a_variable_that_hides_the_module": """
        def test_it(monkeypatch):
            orders = mock.Mock()
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            with patch.object(orders, "with_tax"):
                assert total(1)
    """,
    "a_parameter_that_hides_a_text": """
        @pytest.mark.parametrize("ORDERS", ["shop.other."])
        def test_it(ORDERS):
            with patch(ORDERS + "with_tax"):
                assert total(1)
    """,
    "called_after_it_is_put_back": """
        def test_it():
            original = orders.with_tax
            orders.with_tax = lambda amount: 1
            orders.with_tax = original
            assert total(1)
    """,
    "called_after_a_finally": """
        def test_it():
            original = orders.with_tax
            orders.with_tax = lambda amount: 1
            try:
                assert orders
            finally:
                orders.with_tax = original
            assert total(1)
    """,
    "put_back_by_setattr": """
        def test_it(monkeypatch):
            original = orders.with_tax
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            monkeypatch.setattr(orders, "with_tax", original)
            assert total(1)
    """,
    "put_back_below_a_decorator": """
        ORIGINAL = orders.with_tax

        @patch("shop.orders.with_tax")
        def test_it(mocked):
            orders.with_tax = ORIGINAL
            assert total(1)
    """,
    "put_back_if": """
        def test_it(request):
            original = orders.with_tax
            orders.with_tax = lambda amount: 1
            if request.param:
                orders.with_tax = original
            assert total(1)
    """,
    "put_back_after_set_up": """
        class TestIt(TestCase):
            def setUp(self):
                self.original = orders.with_tax
                orders.with_tax = lambda amount: 1

            def test_it(self):
                orders.with_tax = self.original
                assert total(1)
    """,
    "a_mock_that_gets_the_kept_original": """
        def test_it():
            original = orders.with_tax
            with patch("shop.orders.with_tax") as mocked:
                mocked.side_effect = original
                assert total(1)
    """,
    "a_mock_that_is_configured_with_the_original": """
        def test_it():
            original = orders.with_tax
            with patch("shop.orders.with_tax") as mocked:
                mocked.configure_mock(side_effect=original)
                assert total(1)
    """,
    "undone_if": """
        def test_it(monkeypatch, request):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            if request.param:
                monkeypatch.undo()
            assert total(1)
    """,
    "undone_in_a_loop": """
        def test_it(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            for _ in range(2):
                assert total(1)
                monkeypatch.undo()
    """,
    "stopped_in_a_loop": """
        def test_it():
            patchers = [patch("shop.orders.with_tax"), patch("shop.orders.Bank")]
            for each in patchers:
                each.start()
            for each in patchers:
                each.stop()
            assert total(1)
    """,
    "stopped_in_a_comprehension": """
        def test_it():
            patchers = [patch("shop.orders.with_tax")]
            patchers[0].start()
            [each.stop() for each in patchers]
            assert total(1)
    """,
    "stopped_by_its_place": """
        def test_it():
            patchers = [patch("shop.orders.with_tax")]
            patchers[0].start()
            patchers[0].stop()
            assert total(1)
    """,
    "stopped_in_an_assertion": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            assert patcher.stop() is not None
            assert total(1)
    """,
    "left": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            patcher.__exit__(None, None, None)
            assert total(1)
    """,
    "a_stack_that_is_closed": """
        from contextlib import ExitStack

        def test_it():
            stack = ExitStack()
            stack.enter_context(patch("shop.orders.with_tax"))
            stack.close()
            assert total(1)
    """,
    "stopped_by_an_inner_function": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            def finish():
                patcher.stop()
            finish()
            assert total(1)
    """,
    "stopped_by_an_inner_function_of_the_test": """
        class TestIt(TestCase):
            def setUp(self):
                self.patcher = patch("shop.orders.with_tax")
                self.patcher.start()

            def test_it(self):
                finish = lambda: self.patcher.stop()
                finish()
                assert total(1)
    """,
    "stopped_at_the_end_of_a_fixture": """
        class TestIt(TestCase):
            def setUp(self):
                patcher = patch("shop.orders.with_tax")
                patcher.start()
                patcher.stop()

            def test_it(self):
                assert total(1)
    """,
    "stopped_by_a_later_fixture": """
        @pytest.fixture
        def no_tax():
            patch("shop.orders.with_tax").start()

        @pytest.fixture
        def calm(no_tax):
            patch.stopall()

        def test_it(calm):
            assert total(1)
    """,
    "stopped_by_the_test": """
        class TestIt(TestCase):
            def setUp(self):
                self.patcher = patch("shop.orders.with_tax")
                self.patcher.start()

            def test_it(self):
                self.patcher.stop()
                assert total(1)
    """,
    "a_lambda_that_nobody_calls": """
        def test_it():
            start = lambda: patch("shop.orders.with_tax").start()
            assert total(1)
    """,
    "started_or_not": """
        def test_it(request):
            patcher = patch("shop.orders.with_tax")
            request.param and patcher.start()
            mocked = patcher.start() if request.param else None
            assert total(1)
    """,
    "a_module_that_is_loaded_again": """
        import importlib

        def test_it(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            importlib.reload(orders)
            assert total(1)
    """,
    "a_context_that_is_over_when_the_fixture_ends": """
        @pytest.fixture
        def no_tax(monkeypatch):
            with monkeypatch.context() as m:
                m.setattr(orders, "with_tax", lambda amount: 1)
            return 1

        def test_it(no_tax):
            assert total(1)
    """,
    "a_block_at_the_top_that_is_over": """
        with patch("shop.orders.with_tax"):
            import os

        def test_it():
            assert total(1)
    """,
    "set_at_the_top_and_put_back": """
        ORIGINAL = orders.with_tax
        orders.with_tax = lambda amount: 1
        orders.with_tax = ORIGINAL

        def test_it():
            assert total(1)
    """,
    "set_at_the_top_and_put_back_by_a_fixture": """
        ORIGINAL = orders.with_tax
        orders.with_tax = lambda amount: 1

        @pytest.fixture
        def tax():
            orders.with_tax = ORIGINAL

        def test_it(tax):
            assert total(1)
    """,
    "undone_in_a_match": """
        def test_it(monkeypatch, request):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            match request.param:
                case 1:
                    monkeypatch.undo()
                    assert total(1)
    """,
}  # fmt: skip

import pytest

from codesum_pipeline.search.retrieval.query import asks_for_tests

ASKS = """
tests
unit tests
test
fixtures
tests for the parser
test for the tokenizer
test of the sum of prices
unit tests of the cart
integration tests for the payment gateway
test cases for empty input
test case that covers unicode names
tests covering retries
tests about time zones
test that a bad password is refused
tests that verify the retry policy
the tests of the scheduler
show me the tests for login
find tests for the cache
find the unit tests of the lexer
where are the tests for routing
where are the integration tests
where is the parser tested
where is the retry logic tested?
how is the cache tested
how is concurrent access tested
is the lexer tested
are redirects tested anywhere
which tests cover redirects
what tests cover the proxy
which tests check the signature
is there a test for leap years
are there tests for the CLI
do we have tests for unicode paths
do you have unit tests for this
parser tests
login endpoint tests
http client unit tests
regression tests
regression test for the overflow
cart fixtures
database fixtures
fixtures for the database
fixture of a logged in user
mocks for the mail server
mock of the payment service
parser test cases
router test file
test file for the router
test suite of the compiler
test_total_price
tests/test_cart.py
what does test_cart.py check
src/cart.spec.ts
cart_test.go
TestCart in cart_test.go
CartServiceTest
UserControllerTests
test/models/user_test.rb
conftest.py of the api
how do the tests start a server
how are sessions set up in the tests
what do the unit tests check
is the retry code covered by tests
benchmarks covered by unit tests
snapshot tests of the renderer
end-to-end tests for checkout
specs for the mailer
""".strip().splitlines()

SAYS = """
how do I test my application
test client for WSGI applications
TestClient that sends requests to the app
run tests in parallel
run the tests
discover tests in a folder
skip a test on windows
how to write a unit test with fixtures
mark a test as expected to fail
test whether a path is a directory
test if two values are equal
function that tests whether a number is prime
test runner that reports failures
test the connection before it is used
mock transport that answers requests
mock the system clock
mock server for offline use
create a mock response object
fixture scope resolution
where are fixtures resolved
how are fixtures injected into functions
parametrize a test with arguments
collect test functions from modules
generate test data
fake data for tests
helper to compare output in tests
used in tests to reset the cache
reset global state between tests
temporary directory for a test
assert that two images are equal in tests
capture standard output during a test
timeout of a test
retry a failing test
report the duration of each test
test mode that disables sending mail
in test mode the mailer does not send
enable testing mode
settings for the test environment
database that is created for tests
how to mock time in tests
how can I run one test
how do you test a view
how should I test async code
stub out network calls when testing
record requests and replay them in tests
a/b test assignment of users
hypothesis test for two means
chi squared test
latest version of a package
contest ranking
attestation of builds
load a spec file
OpenAPI spec parser
parse the spec of a version
specification of the protocol
protest against a decision
statistical significance test for samples of two groups
split data into train and test sets
train test split
skip slow tests
where does the runner collect tests
where are tests discovered
create a request object to test views with
write tests with less boilerplate
""".strip().splitlines()


@pytest.mark.parametrize("question", ASKS)
def test_a_question_for_tests_is_known_by_what_it_asks_for(question: str) -> None:
    assert asks_for_tests(question)


@pytest.mark.parametrize("question", SAYS)
def test_a_question_that_mentions_a_test_in_passing_asks_for_something_else(question: str) -> None:
    assert not asks_for_tests(question)

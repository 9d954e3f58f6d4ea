"""R as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = r"""
# Keeps users, and shows them.

library(R6)

page_size <- 20
.cache = new.env()

#' Greet a user
#'
#' Says hello in the language of the user.
#' @param user A user.
#' @export
greet <- function(user, polite = TRUE) {
  title <- function(name) if (polite) paste("Dear", name) else name
  message(title(user$name))
  stats::setNames(1, "x")
}

# Reads one user
# from a row.
parse_user = function(row) strsplit(row, ",")[[1]]

"name<-" <- function(x, value) {
  x$name <- value
  x
}

counter <<- \(n) n + 1
(function(x) x * 2) -> double

#' @export
print.user <- function(x, ...) {
  for (part in parse_user(x)) {
    if (nzchar(part) && part != "-") cat(part)
  }
  invisible(x)
}

.forget <- function() rm(list = ls(.cache), envir = .cache)

#' Holds users by name
UserStore <- R6::R6Class("UserStore",
  inherit = Store,
  public = list(
    #' @field users The users, by name.
    users = NULL,
    limit = 3L,

    #' @description
    #' Starts empty.
    initialize = function(users = list()) {
      self$users <- users
    },
    find = function(name) {
      private$count(name)
      self$users[[name]]
    }
  ),
  private = list(
    seen = 0,
    count = function(name) private$seen <- private$seen + 1
  ),
  active = list(
    size = function() length(self$users)
  )
)

Account <- setRefClass(
  "Account",
  fields = list(balance = "numeric", owner = "character"),
  methods = list(
    deposit = function(x) {
      "Adds money."
      balance <<- balance + x
    }
  )
)
Account$methods(withdraw = function(x) balance <<- balance - x)

setClass("Shape", representation("VIRTUAL", name = "character"))
Square <- setClass("Square", slots = c(side = "numeric"), contains = "Shape")

# How large a shape is.
setGeneric("area", function(shape, ...) standardGeneric("area"))

setMethod("area", "Square", function(shape, ...) shape@side^2)
setMethod("show", signature(object = "Shape"), definition = function(object) {
  cat(area(object))
})
setReplaceMethod("side", "Square", function(x, value) x)

Dog <- new_class("Dog", properties = list(name = class_character))
speak <- new_generic("speak", "x")
method(speak, Dog) <- function(x) greet(x)

GeomUser <- ggproto("GeomUser", Geom,
  required_aes = "x",
  draw_panel = function(data) new("Square", side = nrow(data))
)

server$start <- function(port) counter(port)

test_that("a user is greeted", {
  expect_message(greet(list(name = "Ada")))
})
""".lstrip()

CASE = OutlineCase(
    language="r",
    path="R/users.R",
    source=SOURCE,
    found={
        "greet": ("function", 13, 17),
        "greet::title": ("function", 14, 14),
        "parse_user": ("function", 21, 21),
        "name<-": ("function", 23, 26),
        "counter": ("function", 28, 28),
        "double": ("function", 29, 29),
        "print.user": ("function", 32, 37),
        ".forget": ("function", 39, 39),
        "UserStore": ("class", 42, 66),
        "UserStore::initialize": ("function", 51, 53),
        "UserStore::find": ("function", 54, 57),
        "UserStore::count": ("function", 61, 61),
        "UserStore::size": ("function", 64, 64),
        "Account": ("class", 68, 77),
        "Account::deposit": ("function", 72, 75),
        "Account::withdraw": ("function", 78, 78),
        "Shape": ("class", 80, 80),
        "Square": ("class", 81, 81),
        "area": ("function", 84, 84),
        "Square::area": ("function", 86, 86),
        "Shape::show": ("function", 87, 89),
        "Square::side": ("function", 90, 90),
        "Dog": ("class", 92, 92),
        "speak": ("function", 93, 93),
        "Dog::speak": ("function", 94, 94),
        "GeomUser": ("class", 96, 99),
        "GeomUser::draw_panel": ("function", 98, 98),
        "server::start": ("function", 101, 101),
        "a user is greeted": ("function", 103, 105),
    },
    documented={
        "greet": "Greet a user\n\nSays hello in the language of the user.\n@param user A user.\n@export",
        "parse_user": "Reads one user\nfrom a row.",
        "print.user": "@export",
        "UserStore": "Holds users by name",
        "UserStore::initialize": "@description\nStarts empty.",
        "Account::deposit": "Adds money.",
        "area": "How large a shape is.",
    },
    fields={
        "UserStore": ("users", "limit", "seen"),
        "Account": ("balance", "owner"),
        "Shape": ("name",),
        "Square": ("side",),
        "Dog": ("name",),
    },
    calls={
        "greet": ("message", "title", "stats.setNames"),
        "print.user": ("parse_user", "nzchar", "cat", "invisible"),
        "UserStore::find": ("self.count",),
        "Shape::show": ("signature", "cat", "area"),
        "GeomUser::draw_panel": ("new", "nrow"),
    },
    private=frozenset({"UserStore::count", ".forget"}),
    constants=("page_size", ".cache"),
    edit=("invisible(x)", "x"),
    edited=frozenset({"print.user"}),
    rename=("parse_user", "read_user"),
    renamed={"parse_user": "read_user"},
    uses=frozenset(
        {
            ("Dog::speak", "greet"),
            ("GeomUser::draw_panel", "Square"),
            ("Shape::show", "area"),
            ("Square", "Shape"),
            ("UserStore::find", "UserStore::count"),
            ("a user is greeted", "greet"),
            ("greet", "greet::title"),
            ("print.user", "parse_user"),
            ("server::start", "counter"),
        }
    ),
)

"""Protobuf as people write it, with what only older and newer versions of the language have."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
// Orders of a small shop.
//
// The page and the till talk to it.

syntax = "proto2";

package shop.orders.v1;

import "google/protobuf/timestamp.proto";
import public "shop/money.proto";

option go_package = "example.org/shop/orders";

// An order that somebody placed.
//
// It never changes its number.
message Order {
  reserved 4, 9 to 11;
  reserved "colour", "size";
  extensions 100 to 199;

  // The number on the receipt.
  required string number = 1;
  repeated Line lines = 2;  // at least one
  optional google.protobuf.Timestamp placed_at = 3;
  map<string, shop.orders.v1.Address> addresses = 5 [deprecated = true];

  oneof payment {
    Card card = 6;
    .shop.orders.v1.Voucher voucher = 7;
  }

  /* One thing that is bought. */
  message Line {
    optional string article = 1;
    optional int32 count = 2 [default = 1];

    // How far it is.
    enum Stage {
      reserved 3;
      STAGE_OPEN = 0;
      STAGE_SENT = 1;
    }
    optional Stage stage = 3;
  }

  optional group Parcel = 8 {
    optional string label = 1;
  }
}

message Address {
  optional string street = 1;
}

message Card {
  option (shop.masked) = true;
  required bytes token = 1;
}

message Voucher {}

/**
 * What a customer
 * may do.
 */
enum Permission {
  option allow_alias = true;
  PERMISSION_NONE = 0;
  PERMISSION_READ = 1 [(shop.label) = "read"];
}

message FindRequest {
  optional string number = 1;
  optional Permission permission = 2;
}

// Keeps orders.
service Orders {
  option (shop.host) = "orders.example.org";

  // Finds an order by its number.
  rpc Find(FindRequest) returns (Order) {
    option (google.api.http) = {
      get: "/v1/orders/{number}"
    };
  }
  rpc Watch(stream FindRequest) returns (stream shop.orders.v1.Order);
}
"""

CASE = OutlineCase(
    language="protobuf",
    path="proto/orders.proto",
    source=SOURCE,
    found={
        "Order": ("class", 17, 50),
        "Order::Line": ("class", 34, 45),
        "Order::Line::Stage": ("class", 39, 43),
        "Order::Parcel": ("class", 47, 49),
        "Address": ("class", 52, 54),
        "Card": ("class", 56, 59),
        "Voucher": ("class", 61, 61),
        "Permission": ("class", 67, 71),
        "FindRequest": ("class", 73, 76),
        "Orders": ("class", 79, 89),
        "Orders::Find": ("function", 83, 87),
        "Orders::Watch": ("function", 88, 88),
    },
    documented={
        "Order": "An order that somebody placed.\n\nIt never changes its number.",
        "Order::Line": "One thing that is bought.",
        "Order::Line::Stage": "How far it is.",
        "Permission": "What a customer\nmay do.",
        "Orders": "Keeps orders.",
        "Orders::Find": "Finds an order by its number.",
    },
    fields={
        "Order": ("number", "lines", "placed_at", "addresses", "payment", "card", "voucher"),
        "Order::Line": ("article", "count", "stage"),
        "Order::Line::Stage": ("STAGE_OPEN", "STAGE_SENT"),
        "Order::Parcel": ("label",),
        "Address": ("street",),
        "Card": ("token",),
        "Permission": ("PERMISSION_NONE", "PERMISSION_READ"),
        "FindRequest": ("number", "permission"),
    },
    constants=("shop.orders.v1",),
    edit=('get: "/v1/orders/{number}"', 'get: "/v2/orders/{number}"'),
    edited=frozenset({"Orders", "Orders::Find"}),
    rename=("FindRequest", "OrderRequest"),
    renamed={"FindRequest": "OrderRequest"},
    uses=frozenset(
        {
            ("FindRequest", "Permission"),
            ("Order", "Address"),
            ("Order", "Card"),
            ("Order", "Order::Line"),
            ("Order", "Voucher"),
            ("Order::Line", "Order::Line::Stage"),
            ("Orders::Find", "FindRequest"),
            ("Orders::Find", "Order"),
            ("Orders::Watch", "FindRequest"),
            ("Orders::Watch", "Order"),
        }
    ),
)

"""Terraform's HCL as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
# A web server with a database behind it.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  type        = string
  description = "Region where everything runs"
  default     = "eu-central-1"
}

variable "zones" {
  description = <<-EOT
    The zones of the region.
    At least two.
  EOT
  type        = list(string)
  validation {
    condition     = length(var.zones) > 1
    error_message = "Name two zones."
  }
}

locals {
  # What each name begins with.
  prefix = "shop-${var.region}"

  tags = merge(var.more_tags, {
    Name = local.prefix
  })
}

/* The newest image. */
data "aws_ami" "ubuntu" {
  most_recent = true

  filter {
    name   = "name"
    values = ["ubuntu-*"]
  }
}

// Serves the shop's pages.
// It starts again by itself.
resource "aws_instance" "web" {
  count         = length(var.zones)
  ami           = data.aws_ami.ubuntu.id
  instance_type = var.is_large ? "m5.large" : "t3.small"
  subnet_id     = module.network.subnets[count.index]
  tags          = local.tags

  dynamic "ebs_block_device" {
    for_each = toset(["a", "b"])
    content {
      device_name = each.value
    }
  }

  user_data = <<EOF
#!/bin/sh
echo "${aws_db_instance.shop.address}"
EOF

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_instance" "shop" {
  identifier = local.prefix
}

module "network" {
  source = "./network"
  zones  = var.zones
}

output "address" {
  value       = aws_instance.web[0].public_ip
  description = "Where the shop is"
  sensitive   = false
}

moved {
  from = aws_instance.old
  to   = aws_instance.web
}

check "health" {
  data "http" "page" {
    url = "https://${aws_instance.web[0].public_dns}"
  }

  assert {
    condition     = data.http.page.status_code == 200
    error_message = "The page is away."
  }
}
"""

CASE = OutlineCase(
    language="terraform",
    path="infra/main.tf",
    source=SOURCE,
    found={
        "provider.aws": ("class", 13, 15),
        "var.region": ("class", 17, 21),
        "var.zones": ("class", 23, 33),
        "local.prefix": ("class", 37, 37),
        "local.tags": ("class", 39, 41),
        "data.aws_ami.ubuntu": ("class", 45, 52),
        "aws_instance.web": ("class", 56, 78),
        "aws_db_instance.shop": ("class", 80, 82),
        "module.network": ("class", 84, 87),
        "output.address": ("class", 89, 93),
        "check.health": ("class", 100, 109),
    },
    documented={
        "var.region": "Region where everything runs",
        "var.zones": "The zones of the region.\nAt least two.",
        "local.prefix": "What each name begins with.",
        "data.aws_ami.ubuntu": "The newest image.",
        "aws_instance.web": "Serves the shop's pages.\nIt starts again by itself.",
        "output.address": "Where the shop is",
    },
    edit=("most_recent = true", "most_recent = false"),
    edited=frozenset({"data.aws_ami.ubuntu"}),
    rename=('"shop" {', '"store" {'),
    renamed={"aws_db_instance.shop": "aws_db_instance.store"},
    uses=frozenset(
        {
            ("aws_db_instance.shop", "local.prefix"),
            ("aws_instance.web", "aws_db_instance.shop"),
            ("aws_instance.web", "data.aws_ami.ubuntu"),
            ("aws_instance.web", "local.tags"),
            ("aws_instance.web", "module.network"),
            ("aws_instance.web", "var.zones"),
            ("check.health", "aws_instance.web"),
            ("local.prefix", "var.region"),
            ("local.tags", "local.prefix"),
            ("module.network", "var.zones"),
            ("output.address", "aws_instance.web"),
            ("provider.aws", "var.region"),
        }
    ),
)

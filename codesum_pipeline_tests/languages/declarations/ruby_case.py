"""Ruby as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
# frozen_string_literal: true

# Orders, and how they are paid.

require "set"
require_relative "money/rounding"

=begin
Only for those who look.
=end
module Shop
  autoload :Tax, "shop/tax"

  RATES = { low: 7, "high" => 19 }.freeze

  # A line of an order.
  Line = Struct.new(:name, :price, keyword_init: true) do
    def to_s = "#{name} (#{price.round(2)})"
  end

  class Error < StandardError; end

  # One order.
  #
  # @see Shop::Line
  class Order < Base::Record
    include Comparable, Enumerable
    extend Rounding

    attr_reader :lines, :state
    LIMIT = 100

    class << self
      def open(lines = [], *more, limit: LIMIT, **options, &block)
        new(lines + more, **options).tap(&block)
      end
    end

    def self.empty; open; end

    # Adds a line.
    def <<(line)
      raise Error, "too many: #{lines.size}" if full? # the limit is hard
      @lines << line
      self
    end

    def [](index) = @lines[index]

    def []=(index, line)
      @lines[index] = line
    end

    def state=(value)
      @state = value
      yield value, -1 if block_given?
    end

    define_method(:size) { @lines.size }

    define_method :each do |&block|
      lines.each { |line| block.call(line) }
    end

    alias length size
    alias_method :add, :<<

    def total(rate: :low)
      sum = lines.sum { |line| line.price * RATES.fetch(rate) / 100.0 } rescue 0
      case rate
      when :low, :none then sum
      when ->(r) { r == :high }
        sum * 2
      else
        round(sum)
      end
    end

    def kind
      case lines
      in [] then :empty
      in [{ price: Integer => price }, *] if price > 10
        :dear
      in [Line(name:), *rest]
        name
      end
    end

    def save(path)
      @total ||= total
      File.open(path, "w") do |file|
        file.puts(<<~HEAD, <<-TAIL)
          Order of #{Time.now}
            #{lines.map { |l| l.to_s.strip }.join(", ")}
        HEAD
          end
          TAIL
        file << %w[a b].join
      end
    rescue IOError, Errno::ENOENT => error
      log(error)
      retry if (tries += 1) < 3
    else
      true
    ensure
      close!
    end

    private

    def full?
      lines.size >= LIMIT
    end

    def query = <<~SQL.strip
      select *
        from lines
    SQL

    protected def compare(other) = other.total <=> total

    def close!
      begin
        @file&.close
      rescue StandardError
        nil
      end until @file.nil?
      check
      @file = nil
    end
  end
end

double = ->(x, y = 2) { x * y }

puts Shop::Order.new([1]).total unless ARGV.empty?

__END__
data of the file
"""

CONDITIONS = """\
def decide(mode, size, ready)
  if size < 0
    too_small()
  elsif size > 9
    too_large()
  else
    fits()
  end
  unless ready
    wait()
  end
  give_up() if size.nil?
  go_on() unless ready
  always()
  ready or complain()
  case mode
  when :read, :write then use(mode)
  else refuse(mode)
  end
  begin
    attempt()
  rescue IOError, KeyError => error
    recover(error)
  end
end
"""

OPENING = """\
def apart
  # Walk all of it once,
  # in order.

  start
  stop
end

def whole
  # Walk all of it once, in order.
  start
end

def first
  # Walk all of it once, in order.
  start
  stop
end

def task
  # TODO: walk all of it once, in order.

  start
  stop
end

def code
  # walk(all, once);

  start
  stop
end
"""

CASE = LanguageCase(
    language="ruby",
    path="lib/shop/order.rb",
    source=SOURCE,
    reformatted=SOURCE.replace("class Error < StandardError; end", "class Error < StandardError\n  end")
    .replace("def self.empty; open; end", "def self.empty\n      open\n    end")
    .replace("when :low, :none then sum", "when :low, :none\n        sum")
    .replace("in [] then :empty", "in []\n        :empty")
    .replace("{ low: 7, ", "{low: 7,  ")
    .replace('"high" => 19 }', '"high" => 19}')
    .replace("(lines = [], *more, limit: LIMIT, ", "(lines = [], *more,\n               limit: LIMIT,\n               ")
    .replace(
        "      new(lines + more, **options).tap(&block)", "        new(lines + more, **options)\n          .tap(&block)"
    )
    .replace("{ @lines.size }", "{\n      @lines.size\n    }")
    .replace("    attr_reader", "\n\n    attr_reader"),
    commented=SOURCE.replace(" # the limit is hard", "").replace(
        "      @state = value\n", "      # as given\n      @state = value # kept\n"
    ),
    edit=("lines.size >= LIMIT", "lines.size > LIMIT"),
    edited=frozenset({"Shop", "Shop::Order", "Shop::Order::full?"}),
    rename=("def kind", "def sort"),
    renamed={"Shop::Order::kind": "Shop::Order::sort"},
    is_braced=False,
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "too_large": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "wait": "not ready",
        "give_up": "size.nil?",
        "size.nil?": "",
        "go_on": "not ready",
        "always": "",
        "complain": "not ready",
        "use": "mode is :read or :write",
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "IOError or KeyError is caught",
    },
    opening=OPENING,
)

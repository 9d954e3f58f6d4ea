"""PHP as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
<?php

declare(strict_types=1);

namespace App\\Billing;

use App\\Models\\{Invoice, Customer as Client};
use function App\\Support\\money;
use Psr\\Log\\LoggerInterface;

require_once __DIR__ . '/bootstrap.php';

const LIMIT = 100;

/**
 * Sends invoices.
 *
 * @see Invoice
 */
#[Service('billing')]
final class Biller extends Base implements Sends, Counts
{
    use LogsThings;

    public const RATE = 0.2;
    private ?Client $client = null;
    protected static int $count = 0;

    public function __construct(
        private readonly LoggerInterface $logger,
        ?int $limit = self::RATE,
        string ...$tags
    ) {
        parent::__construct();
        $this->mailer = new Mailer($limit); // later injected
        self::boot();
    }

    /** Sends one invoice. */
    public function send(Invoice $invoice, array &$seen): ?bool
    {
        if ($invoice->total() > LIMIT) {
            throw new \\InvalidArgumentException("too much: {$invoice->total()}");
        } elseif (!$seen) {
            return null;
        }
        foreach ($invoice->lines as $key => $line) {
            $this->total += -$line->price;
        }
        for ($i = 0; $i < 3; $i++) {
            echo $i;
        }
        switch ($invoice->kind) {
            case 1:
                return true;
            default:
                static::$count++;
        }
        try {
            $mail = new Mail();
            $mail->send($this->mailer?->address());
        } catch (MailError | Timeout $error) {
            $this->logger->error($error);
        } finally {
            unset($mail);
        }
        $double = function (int $x) use ($seen): int {
            return $x * 2;
        };
        return match (true) {
            $seen => $double(1) > 1,
            default => (bool) money(2),
        };
    }

    #[Test]
    public static function make(): static
    {
        return new static();
    }

    abstract protected function later(): void;
}

interface Sends
{
    public function send(Invoice $invoice, array &$seen): ?bool;
}

trait LogsThings
{
    private function log(string $text): void
    {
        $this->lines[] = $text;
    }
}

enum Suit: string
{
    case Hearts = 'H';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

/**
 * All lines of a text.
 *
 * @return iterable<string>
 */
function lines(string $text): iterable
{
    foreach (explode("\\n", $text) as $line) {
        yield trim($line);
    }
}

$greet = fn($name) => "Hello $name";
$text = <<<EOT
  Dear {$greet('x')},
  EOT;
"""

CONDITIONS = """\
<?php
function decide($mode, $size, $ready) {
    if ($size < 0) {
        too_small();
    } elseif ($size > 9) {
        too_large();
    } else {
        fits();
    }
    if (!$ready) {
        return wait();
    }
    always();
    $chosen = $size === 1 ? one() : several();
    $given = $mode ?? standard();
    $ready or give_up();
    switch ($mode) {
        case 'read':
        case 'write':
            use_it($mode);
            break;
        default:
            refuse($mode);
    }
    $found = match (true) {
        $size > 3 => many(),
        default => few(),
    };
    try {
        attempt();
    } catch (IOException | KeyException $error) {
        recover($error);
    }
}
"""

OPENING = """\
<?php
function apart() {
    // Walk all of it once,
    // in order.

    begin();
    end();
}

function whole() {
    // Walk all of it once, in order.
    begin();
}

function first() {
    // Walk all of it once, in order.
    begin();
    end();
}

function task() {
    // TODO: walk all of it once, in order.

    begin();
    end();
}

function code() {
    // walk(all, once);

    begin();
    end();
}
"""

CASE = LanguageCase(
    language="php",
    path="src/Biller.php",
    source=SOURCE,
    reformatted=SOURCE.replace("    ", "\t")
    .replace("\n{\n", " {\n")
    .replace("\n\t{\n", " {\n")
    .replace(
        "\t\tprivate readonly LoggerInterface $logger,\n\t\t?int", "\t\tprivate readonly LoggerInterface $logger, ?int"
    )
    .replace(
        "(int $x) use ($seen): int {\n\t\t\treturn $x * 2;\n\t\t}", "(int $x) use ($seen): int { return $x * 2; }"
    ),
    commented=SOURCE.replace(" // later injected", " # later")
    .replace("        $this->lines[] = $text;", "        // kept\n        $this->lines[] = $text;")
    .replace("yield trim($line);", "yield /* clean */ trim($line);"),
    edit=("ucfirst($this->value)", "strtolower($this->value)"),
    edited=frozenset({"Suit", "Suit::label"}),
    rename=("function lines(", "function rows("),
    renamed={"lines": "rows"},
    conditions=CONDITIONS,
    when={
        "too_small": "$size < 0",
        "too_large": "$size > 9",
        "fits": "neither $size < 0 nor $size > 9",
        "wait": "not $ready",
        "always": "",
        "one": "$size === 1",
        "several": "$size !== 1",
        "standard": "$mode has no value",
        "give_up": "not $ready",
        "use_it": '$mode is "read" or "write"',
        "refuse": "$mode is anything else",
        "many": "$size > 3",
        "few": "",
        "attempt": "",
        "recover": "IOException or KeyException is caught",
    },
    opening=OPENING,
)

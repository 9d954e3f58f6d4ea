"""PowerShell as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
<#
.SYNOPSIS
    Keeps users, and shows them.
#>
using module Shop

param([string] $Path = "users.csv")

Set-StrictMode -Version 2
$script:Cache = @{}
$PageSize = 20

[Flags()]
enum Color {
    Red = 1
    Green = 2
}

class Shape {
    [string] $Name
}

# A user, as a row has it.
class User : Shape {
    [int] $Age = 3
    hidden [string] $Secret
    static [int] $Count

    User() { }
    User([string] $name) : base($name) {
        $this.Name = $name
        $this.Check()
    }

    # Says hello.
    [string] Greet([int] $times) {
        if ($times -gt 1 -and $this.Age) {
            return "Hello, hello"
        }
        return "Hello"
    }

    static [User] Create() { return [User]::new("nobody") }
    hidden [void] Check() { throw "no" }
}

<#
.SYNOPSIS
    Finds a user by name.
.PARAMETER Name
    Its name.
.EXAMPLE
    PS> Get-User -Name Ada
#>
function Get-User {
    [CmdletBinding()]
    [OutputType([User])]
    param(
        [Parameter(Mandatory = $true)] [string] $Name,
        [switch] $Force
    )
    begin {
        function Test-Name($text) { $text.Length -gt 0 }
    }
    process {
        foreach ($row in Import-Csv -Path $Path) {
            if (Test-Name $row.Name) {
                ConvertTo-User -Row $row | Where-Object { $_.Name -eq $Name }
            }
        }
    }
}

function ConvertTo-User($Row) {
    <#
    .SYNOPSIS
        Reads one user from a row.
    #>
    [User]::new($Row.Name)
}

# Removes all users
# from the cache.
function script:Clear-Cache
{
    try { $script:Cache.Clear() } catch { Write-Error $_ }
}

filter Select-Adult { if ($_.Age -gt 17) { $_ } }

workflow Sync-Users {
    param([string] $Server)
    Invoke-Command -ComputerName $Server
}

configuration Server
{
    Node localhost {
        WindowsFeature Web { Ensure = 'Present' }
    }
}

Describe "Get-User" -Tag Fast {
    It 'finds a user' {
        Get-User -Name Ada | Should -Not -BeNullOrEmpty
    }
}

Export-ModuleMember -Function Get-User, ConvertTo-User
"""

CASE = OutlineCase(
    language="powershell",
    path="src/Users.psm1",
    source=SOURCE,
    found={
        "Color": ("class", 14, 17),
        "Shape": ("class", 19, 21),
        "User": ("class", 24, 45),
        "User::User": ("function", 29, 29),
        "User::User#3648c5": ("function", 30, 33),
        "User::Greet": ("function", 36, 41),
        "User::Create": ("function", 43, 43),
        "User::Check": ("function", 44, 44),
        "Get-User": ("function", 55, 72),
        "Get-User::Test-Name": ("function", 63, 63),
        "ConvertTo-User": ("function", 74, 80),
        "script:Clear-Cache": ("function", 84, 87),
        "Select-Adult": ("function", 89, 89),
        "Sync-Users": ("function", 91, 94),
        "Server": ("function", 96, 101),
        "Describe.Get-User": ("function", 103, 107),
        "Describe.Get-User::It.finds a user": ("function", 104, 106),
    },
    documented={
        "User": "A user, as a row has it.",
        "User::Greet": "Says hello.",
        "Get-User": "Finds a user by name.\n\nName\n    Its name.\n\n\n    PS> Get-User -Name Ada",
        "ConvertTo-User": "Reads one user from a row.",
        "script:Clear-Cache": "Removes all users\nfrom the cache.",
    },
    fields={
        "Color": ("Red", "Green"),
        "Shape": ("$Name",),
        "User": ("$Age", "$Secret", "$Count"),
    },
    calls={
        "User::User#3648c5": ("self.Check",),
        "User::Greet": (),
        "Get-User": ("Import-Csv", "Test-Name", "ConvertTo-User", "Where-Object"),
        "ConvertTo-User": ("User.new",),
    },
    private=frozenset({"User::Check"}),
    constants=("$script:Cache", "$PageSize"),
    edit=("17", "18"),
    edited=frozenset({"Select-Adult"}),
    rename=("Clear-Cache", "Remove-Cache"),
    renamed={"script:Clear-Cache": "script:Remove-Cache"},
    uses=frozenset(
        {
            ("ConvertTo-User", "User"),
            ("Describe.Get-User::It.finds a user", "Get-User"),
            ("Get-User", "ConvertTo-User"),
            ("Get-User", "Get-User::Test-Name"),
            ("Get-User", "User"),
            ("User", "Shape"),
            ("User::User#3648c5", "User::Check"),
        }
    ),
)

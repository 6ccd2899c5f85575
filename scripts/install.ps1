<#
.SYNOPSIS
Installs or uninstalls wgcl for all OpenCL programs on Windows.

.DESCRIPTION
Copies wgcl.dll and wgclc.exe to a directory, and registers the library for the Khronos loader (OpenCL.dll, which graphics drivers install). The entry is a
DWORD value 0 in HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\OpenCL\Vendors, and its name is the library's path. Writing it requires administrator rights. Without
these rights, set the environment variable OCL_ICD_FILENAMES to the library's path.

.EXAMPLE
scripts/install.ps1
scripts/install.ps1 -Prefix C:\wgcl
scripts/install.ps1 -Uninstall
#>
param(
    [string]$Prefix = (Join-Path $env:ProgramFiles 'wgcl'),
    [switch]$Uninstall
)
$ErrorActionPreference = 'Stop'
$root = Split-Path -Parent $PSScriptRoot
$vendors = 'HKLM:\SOFTWARE\Khronos\OpenCL\Vendors'
$library = Join-Path $Prefix 'wgcl.dll'

if ($Uninstall) {
    Remove-ItemProperty -Path $vendors -Name $library -ErrorAction SilentlyContinue
    foreach ($file in 'wgcl.dll', 'wgclc.exe') {
        Remove-Item -Path (Join-Path $Prefix $file) -ErrorAction SilentlyContinue
    }
    Write-Output "removed from $Prefix"
    exit 0
}

if ($env:WGCL_LIBRARY) {
    $built = $env:WGCL_LIBRARY
} else {
    cargo build --release --workspace --manifest-path (Join-Path $root 'Cargo.toml')
    if ($LASTEXITCODE -ne 0) { throw 'cargo build failed' }
    $built = Join-Path $root 'target\release\wgcl.dll'
}
New-Item -ItemType Directory -Force -Path $Prefix | Out-Null
Copy-Item -Path $built -Destination $library
$command = Join-Path (Split-Path -Parent $built) 'wgclc.exe'
if (Test-Path $command) { Copy-Item -Path $command -Destination $Prefix }
try {
    if (-not (Test-Path $vendors)) { New-Item -Path $vendors -Force | Out-Null }
    New-ItemProperty -Path $vendors -Name $library -PropertyType DWord -Value 0 -Force | Out-Null
    Write-Output "installed: $library, registered in $vendors"
} catch [System.Security.SecurityException], [System.UnauthorizedAccessException] {
    Write-Output "copied to $library, but not registered: administrator rights are required. Set OCL_ICD_FILENAMES=$library instead"
}

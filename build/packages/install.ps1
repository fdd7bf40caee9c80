# Installs rt for one user, without an administrator:
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-Version 1.2.3] [-Dir <directory>] [-Url <address>]
#   powershell -ExecutionPolicy Bypass -File install.ps1 -Uninstall [-Dir <directory>]
#
# RT_VERSION, RT_DIR and RT_URL say the same. What is below the address: latest/download/ and download/v<version>/, each
# with SHA256SUMS and the archives. The archive is checked before anything of it is run. A running rt.exe cannot be
# overwritten, but renamed: it goes to rt.previous.exe.
[CmdletBinding()]
param(
  [string]$Version = $env:RT_VERSION,
  [string]$Dir = $env:RT_DIR,
  [string]$Url = $env:RT_URL,
  [switch]$Uninstall
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # drawing it takes longer than the download
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$releases = '@RELEASES@'

function Stop-Install([string]$Message, [string]$Hint) {
  [Console]::Error.WriteLine("error: $Message")
  if ($Hint) { [Console]::Error.WriteLine("hint: $Hint") }
  exit 1
}

if (-not $Dir) { $Dir = Join-Path $env:LOCALAPPDATA 'Programs\rt' }
$program = Join-Path $Dir 'rt.exe'
$previous = Join-Path $Dir 'rt.previous.exe'

function Get-UserPath { @([Environment]::GetEnvironmentVariable('Path', 'User') -split ';' | Where-Object { $_ }) }

if ($Uninstall) {
  if (-not (Test-Path -LiteralPath $program)) { Stop-Install "There is no rt in $Dir" 'name its directory with -Dir' }
  try { Remove-Item -LiteralPath $program -Force } catch { Stop-Install "Cannot remove $program" 'end what runs with rt, then try again' }
  if (Test-Path -LiteralPath $previous) { Remove-Item -LiteralPath $previous -Force }
  $left = Get-UserPath | Where-Object { $_.TrimEnd('\') -ne $Dir.TrimEnd('\') }
  [Environment]::SetEnvironmentVariable('Path', ($left -join ';'), 'User')
  Write-Output "Removed $program"
  exit 0
}

if (-not $Url) {
  if ($releases.StartsWith('@')) { Stop-Install 'This script does not know where the releases are' 'name the address with -Url' }
  $Url = $releases
}
$Url = $Url.TrimEnd('/')

# PROCESSOR_ARCHITEW6432 is set where this shell is itself emulated.
$machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
switch ($machine) {
  'AMD64' { $target = 'windows-x64' }
  'ARM64' { $target = 'windows-arm64' }
  default { Stop-Install "There is no rt for $machine" }
}

$folder = if ($Version) { "$Url/download/v$($Version.TrimStart('v'))" } else { "$Url/latest/download" }

try { New-Item -ItemType Directory -Force -Path $Dir | Out-Null } catch { Stop-Install "Cannot create $Dir" 'name another directory with -Dir' }
$work = Join-Path $Dir ('.rt-install-' + [Guid]::NewGuid().ToString('N'))
try { New-Item -ItemType Directory -Path $work | Out-Null } catch { Stop-Install "Cannot write to $Dir" 'name another directory with -Dir' }

try {
  $sums = Join-Path $work 'SHA256SUMS'
  try { Invoke-WebRequest -UseBasicParsing -Uri "$folder/SHA256SUMS" -OutFile $sums }
  catch { Stop-Install "Cannot download $folder/SHA256SUMS" 'is there such a version, and is the network up?' }
  $line = Get-Content -LiteralPath $sums | Where-Object { $_ -match "^[0-9a-f]{64}  rt-\S*[0-9]-$target\.zip$" } | Select-Object -First 1
  if (-not $line) { Stop-Install "This release has nothing for $target" }
  $expected, $archive = $line -split '  ', 2

  Write-Output "Downloading $folder/$archive"
  $zip = Join-Path $work $archive
  try { Invoke-WebRequest -UseBasicParsing -Uri "$folder/$archive" -OutFile $zip }
  catch { Stop-Install "Cannot download $folder/$archive" }
  $actual = (Get-FileHash -Algorithm SHA256 -LiteralPath $zip).Hash.ToLowerInvariant()
  if ($actual -ne $expected) { Stop-Install "The archive is not the one that was released: its SHA-256 is $actual, not $expected" 'download it again' }

  Expand-Archive -LiteralPath $zip -DestinationPath $work
  $new = Join-Path (Join-Path $work ($archive -replace '\.zip$', '')) 'rt.exe'
  $installed = & $new --version
  if ($LASTEXITCODE -ne 0) { Stop-Install 'rt does not start on this system' "its binary was for $target" }
  if (Test-Path -LiteralPath $program) { Move-Item -LiteralPath $program -Destination $previous -Force }
  Move-Item -LiteralPath $new -Destination $program
} finally {
  Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}

Write-Output "Installed rt $installed at $program"
if (-not (Get-UserPath | Where-Object { $_.TrimEnd('\') -eq $Dir.TrimEnd('\') })) {
  Write-Output "Put it on your PATH:  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$Dir', 'User')"
}

# Installs rt for one user, without an administrator:
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-Version 1.2.3] [-Dir <directory>] [-Url <address>] [-Sha256 <sum>]
#   powershell -ExecutionPolicy Bypass -File install.ps1 -Uninstall [-Dir <directory>]
#
# RT_VERSION, RT_DIR and RT_URL say the same. What is below the address: latest/download/ and download/v<version>/, each
# with SHA256SUMS, its signatures and the archives.
#
# Nothing of an archive is run before it is known to be what was released: SHA256SUMS has to be signed with one of the
# keys below, which OpenSSH's ssh-keygen or minisign can tell; or the user gives the archive's checksum. From https, no
# redirect leads to anything else. A running rt.exe cannot be overwritten, but renamed: it goes to rt.previous.exe.
[CmdletBinding()]
param(
  [string]$Version = $env:RT_VERSION,
  [string]$Dir = $env:RT_DIR,
  [string]$Url = $env:RT_URL,
  [string]$Sha256,
  [switch]$Uninstall
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # drawing it takes longer than the download
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$releases = '@RELEASES@'
# One a line: minisign's public key, and the same key as OpenSSH writes it.
$keys = '@KEYS@'

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
if ($Version) { $Version = $Version.TrimStart('v') }
if ($Version -eq 'latest') { $Version = '' }
if ($Version -and $Version -notmatch '^[0-9A-Za-z.+-]+\z') { Stop-Install '-Version is not a version' 'it is like 1.2.3, or "latest"' }
if ($Sha256 -and $Sha256 -notmatch '^[0-9a-fA-F]{64}$') { Stop-Install '-Sha256 is not a SHA-256' 'it has 64 hexadecimal digits' }
if (-not $Url.StartsWith('https://')) {
  if (-not $Url.StartsWith('http://')) { Stop-Install "`"$Url`" is no address of releases" 'it begins with https://' }
  if (-not $Sha256) { Stop-Install 'Over http, anybody on the way could put something else in its place' "use https, or give the archive's checksum with -Sha256" }
}

# PROCESSOR_ARCHITEW6432 is set where this shell is itself emulated.
$machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
switch ($machine) {
  'AMD64' { $target = 'windows-x64' }
  'ARM64' { $target = 'windows-arm64' }
  default { Stop-Install "There is no rt for $machine" }
}

$minisign = Get-Command minisign -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
$sshKeygen = Get-Command ssh-keygen -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
if (-not $Sha256) {
  if ($keys.StartsWith('@')) { Stop-Install 'This script has no key that releases are signed with' "give the archive's checksum with -Sha256" }
  if (-not ($minisign -or $sshKeygen)) { Stop-Install 'Nothing here can check the signature of a release' "install the OpenSSH client or minisign; or give the archive's checksum with -Sha256" }
}

# Redirects are followed by hand, so that none leads from https to anything else.
function Get-File([string]$Address, [string]$Path) {
  $next = [Uri]$Address
  for ($left = 10; $left -ge 0; $left--) {
    $request = [Net.HttpWebRequest]::Create($next)
    $request.AllowAutoRedirect = $false
    $response = $request.GetResponse()
    try {
      $location = $response.Headers['Location']
      if (-not $location) {
        $file = [IO.File]::Create($Path)
        try { $response.GetResponseStream().CopyTo($file) } finally { $file.Dispose() }
        return
      }
      $to = New-Object Uri($next, $location)
      if ($to.Scheme -ne 'https' -and -not ($next.Scheme -eq 'http' -and $to.Scheme -eq 'http')) { throw "$Address leads from https to $to" }
      $next = $to
    } finally { $response.Dispose() }
  }
  throw "$Address leads from one address to the next"
}

# Whether the file is signed with the key: "<key of minisign>:<key of OpenSSH>".
function Test-Signature([string]$Key, [string]$File, [string]$Signature, [string]$Work) {
  $ofMinisign, $ofSsh = $Key -split ':', 2
  if ($minisign) {
    & $minisign.Path -Vqm $File -x $Signature -P $ofMinisign 2>$null | Out-Null
    return $LASTEXITCODE -eq 0
  }
  $signers = Join-Path $Work 'signers'
  [IO.File]::WriteAllText($signers, "rt ssh-ed25519 $ofSsh`n")
  # By cmd, since PowerShell would change what goes through its own pipe.
  & cmd.exe /d /c "`"`"$($sshKeygen.Path)`" -Y verify -f `"$signers`" -I rt -n rt-release -s `"$Signature`" < `"$File`"`"" 2>$null | Out-Null
  return $LASTEXITCODE -eq 0
}

$folder = if ($Version) { "$Url/download/v$Version" } else { "$Url/latest/download" }

try { New-Item -ItemType Directory -Force -Path $Dir | Out-Null } catch { Stop-Install "Cannot create $Dir" 'name another directory with -Dir' }
$work = Join-Path $Dir ('.rt-install-' + [Guid]::NewGuid().ToString('N'))
try { New-Item -ItemType Directory -Path $work | Out-Null } catch { Stop-Install "Cannot write to $Dir" 'name another directory with -Dir' }

try {
  $sums = Join-Path $work 'SHA256SUMS'
  try { Get-File "$folder/SHA256SUMS" $sums }
  catch { Stop-Install "Cannot download $folder/SHA256SUMS" 'is there such a version, and is the network up?' }
  if (-not $Sha256) {
    $kind = if ($minisign) { 'minisig' } else { 'sig' }
    $signature = Join-Path $work 'signature'
    try { Get-File "$folder/SHA256SUMS.$kind" $signature }
    catch { Stop-Install "Cannot download $folder/SHA256SUMS.$kind" "this release is not signed; give the archive's checksum with -Sha256" }
    $signed = $keys -split '\s+' | Where-Object { $_ -and (Test-Signature $_ $sums $signature $work) }
    if (-not $signed) { Stop-Install 'SHA256SUMS is not signed with a key that this script knows' 'download install.ps1 of that release, and try again' }
  }
  $line = Get-Content -LiteralPath $sums | Where-Object { $_ -match "^[0-9a-f]{64}  rt-\S*[0-9]-$target\.zip$" } | Select-Object -First 1
  if (-not $line) { Stop-Install "This release has nothing for $target" }
  $expected, $archive = $line -split '  ', 2
  if ($Sha256) { $expected = $Sha256.ToLowerInvariant() }
  # The name is signed, where the folder that it is in is not.
  if ($Version -and $archive -ne "rt-$Version-$target.zip") { Stop-Install "What is at $folder is another version: $archive" 'nothing was changed' }

  Write-Output "Downloading $folder/$archive"
  $zip = Join-Path $work $archive
  try { Get-File "$folder/$archive" $zip }
  catch { Stop-Install "Cannot download $folder/$archive" }
  $actual = (Get-FileHash -Algorithm SHA256 -LiteralPath $zip).Hash.ToLowerInvariant()
  if ($actual -ne $expected) { Stop-Install "The archive is not the one that was released: its SHA-256 is $actual, not $expected" 'download it again' }

  Expand-Archive -LiteralPath $zip -DestinationPath $work
  $new = Join-Path (Join-Path $work ($archive -replace '\.zip$', '')) 'rt.exe'
  $item = Get-Item -LiteralPath $new -Force -ErrorAction SilentlyContinue
  if (-not ($item -is [IO.FileInfo]) -or ($item.Attributes -band [IO.FileAttributes]::ReparsePoint)) { Stop-Install "$archive has something else than a program in the place of rt" 'nothing was changed' }
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

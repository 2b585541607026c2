/**
 * The last line calls one function, so that a truncated download runs nothing (contract 60,
 * installer).
 */
import { NOT_BUILT_MESSAGE, type InstallScriptContext } from './install-sh.js';

/** PowerShell treats typographic quotes as plain ones. */
const quoteForPowerShell = (text: string): string =>
  `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, (quote) => quote + quote)}'`;

export function renderInstallPs1({ url, files }: InstallScriptContext): string {
  const agent = files.find(({ runtime }) => runtime === 'win-x64');
  const missing = files.length === 0 ? NOT_BUILT_MESSAGE : 'This server offers no update agent for Windows.';
  const text = `# Installs the update agent of the Application Operations Service at ${url.replace(/[^\x20-\x7e]/g, '?')}
# It downloads one file, verifies its checksum and puts it in place. It sets up nothing else.

function Install-UpdateAgent {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue'
${
  agent === undefined
    ? `  throw ${quoteForPowerShell(missing)}`
    : `  $server = ${quoteForPowerShell(url)}
  $file = ${quoteForPowerShell(agent.name)}
  $sum = ${quoteForPowerShell(agent.sha256)}
  if (-not [Environment]::Is64BitOperatingSystem) { throw 'There is no update agent for 32-bit Windows.' }
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  $target = if ($env:UPDATE_AGENT_DIR) { $env:UPDATE_AGENT_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\\update-agent' }
  New-Item -ItemType Directory -Force -Path $target | Out-Null
  # Next to the target, on the same volume, so that it is replaced atomically.
  $new = Join-Path $target ('.update-agent.' + [Guid]::NewGuid().ToString('N'))
  try {
    Write-Host "Downloading $server/installer/$file"
    # While the server prepares its agents it answers 503, for up to ten minutes.
    for ($waited = 0; ; $waited += 5) {
      try {
        Invoke-WebRequest -UseBasicParsing -Uri "$server/installer/$file" -Headers @{ 'Accept-Encoding' = 'gzip' } -OutFile $new
        break
      } catch {
        $answer = $_.Exception.Response
        if ($null -eq $answer -or [int]$answer.StatusCode -ne 503 -or $waited -ge 600) { throw }
        if ($waited -eq 0) { Write-Host 'The server is still preparing its update agents; waiting for it' }
        Start-Sleep -Seconds 5
      }
    }
    # Windows PowerShell 5.1 stores the compressed form, PowerShell 7 unpacks it. The checksum covers both.
    $head = New-Object byte[] 2
    $packed = [IO.File]::OpenRead($new)
    try {
      [void]$packed.Read($head, 0, 2)
      if ($head[0] -eq 0x1f -and $head[1] -eq 0x8b) {
        $packed.Position = 0
        $plain = [IO.File]::Create("$new.exe")
        try {
          $unzip = New-Object IO.Compression.GZipStream $packed, ([IO.Compression.CompressionMode]::Decompress)
          $unzip.CopyTo($plain)
        } finally { $plain.Dispose() }
      }
    } finally { $packed.Dispose() }
    if (Test-Path -LiteralPath "$new.exe") { Move-Item -Force -LiteralPath "$new.exe" -Destination $new }
    $got = (Get-FileHash -Algorithm SHA256 -LiteralPath $new).Hash.ToLowerInvariant()
    if ($got -ne $sum) { throw "The checksum of $file is wrong: got $got, expected $sum; nothing was changed." }
    $agent = Join-Path $target 'update-agent.exe'
    Move-Item -Force -LiteralPath $new -Destination $agent
    Write-Host "Installed $agent"
    if (-not (($env:PATH -split ';') -contains $target)) { Write-Host "$target is not in PATH: start it as $agent" }
  } finally {
    foreach ($left in $new, "$new.exe") { if (Test-Path -LiteralPath $left) { Remove-Item -Force -LiteralPath $left } }
  }`
}
}

try { Install-UpdateAgent } catch { [Console]::Error.WriteLine('install.ps1: ' + $_.Exception.Message); exit 1 }
`;
  return text.replaceAll('\n', '\r\n');
}

/**
 * `install.ps1` (contract 60, installer): as `install.sh`, for Windows PowerShell 5.1 and PowerShell 7. One function that
 * its last line calls, so that a cut download runs nothing. Pure.
 */
import { NOT_BUILT, type ScriptFacts } from './install-sh.js';

/** In single quotes for PowerShell, which takes typographic quotes for plain ones. */
const quoted = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, (quote) => quote + quote)}'`;

export function installPs1({ url, files }: ScriptFacts): string {
  const agent = files.find(({ runtime }) => runtime === 'win-x64');
  const missing = files.length === 0 ? NOT_BUILT : 'This server offers no update agent for Windows.';
  const text = `# Installs the update agent of the Application Operations Service at ${url.replace(/[^\x20-\x7e]/g, '?')}
# It downloads one file, verifies its checksum and puts it in place. It sets up nothing else.

function Install-UpdateAgent {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue'
${
  agent === undefined
    ? `  throw ${quoted(missing)}`
    : `  $server = ${quoted(url)}
  $file = ${quoted(agent.name)}
  $sum = ${quoted(agent.sha256)}
  if (-not [Environment]::Is64BitOperatingSystem) { throw 'There is no update agent for 32-bit Windows.' }
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  $target = if ($env:UPDATE_AGENT_DIR) { $env:UPDATE_AGENT_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\\update-agent' }
  New-Item -ItemType Directory -Force -Path $target | Out-Null
  # Beside the target, on the same volume: so that it is put in place in one step.
  $new = Join-Path $target ('.update-agent.' + [Guid]::NewGuid().ToString('N'))
  try {
    Write-Host "Downloading $server/installer/$file"
    Invoke-WebRequest -UseBasicParsing -Uri "$server/installer/$file" -OutFile $new
    $got = (Get-FileHash -Algorithm SHA256 -LiteralPath $new).Hash.ToLowerInvariant()
    if ($got -ne $sum) { throw "The checksum of $file is wrong: got $got, expected $sum; nothing was changed." }
    $agent = Join-Path $target 'update-agent.exe'
    Move-Item -Force -LiteralPath $new -Destination $agent
    Write-Host "Installed $agent"
    if (-not (($env:PATH -split ';') -contains $target)) { Write-Host "$target is not in PATH: start it as $agent" }
  } finally {
    if (Test-Path -LiteralPath $new) { Remove-Item -Force -LiteralPath $new }
  }`
}
}

try { Install-UpdateAgent } catch { [Console]::Error.WriteLine('install.ps1: ' + $_.Exception.Message); exit 1 }
`;
  return text.replaceAll('\n', '\r\n');
}

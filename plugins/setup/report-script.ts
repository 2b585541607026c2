/**
 * The token is in `watchdog.token` next to it and never passed as a program argument (contract 60,
 * agent).
 */
import { hash } from 'node:crypto';
import { toScriptFileName } from './monitor-source.js';

export interface ReportScript {
  filename: string;
  mode: string;
  eol: 'lf' | 'crlf';
  /** Hex, of `content` as UTF-8. */
  sha256: string;
  content: string;
}

export interface ReportTarget {
  url: string;
  source: string;
  interval_seconds: number;
}

/** Next to the script, mode 0600. */
export const TOKEN_FILE_NAME = 'watchdog.token';
const MAX_JITTER_SECONDS = 20;

/** @throws RangeError for a URL that cannot be quoted */
export function buildReportScript(platform: string, reporting: ReportTarget): ReportScript {
  // Both are validated earlier; a quote in either would end its string.
  if (/['"`$\\\s]/.test(reporting.url + reporting.source)) throw new RangeError('an address with quotes or spaces');
  const windows = platform.startsWith('win-');
  const content = windows ? renderPowerShellScript(reporting).replaceAll('\n', '\r\n') : renderShellScript(reporting);
  const filename = toScriptFileName(reporting.source, windows ? '.ps1' : '.sh');
  return { filename, mode: '0700', eol: windows ? 'crlf' : 'lf', sha256: hash('sha256', content), content };
}

const getJitterSeconds = (seconds: number): number => Math.min(MAX_JITTER_SECONDS, Math.floor(seconds / 3));

function renderShellScript({ url, source, interval_seconds }: ReportTarget): string {
  return `#!/bin/sh
# Reports this machine to the Application Operations Service. Requires curl, and ${TOKEN_FILE_NAME} next to it (0600).
# Numbers are written with a point, whatever the language of the machine.
set -u
LC_ALL=C
LANG=C
export LC_ALL LANG
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

url='${url}'
source='${source}'
interval=${interval_seconds}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
command -v curl >/dev/null 2>&1 || {
  echo "heartbeat: curl is not installed" >&2
  exit 1
}
token=$(cat "$here/${TOKEN_FILE_NAME}") || exit 1

# Spreads the load: when started by a schedule, it waits for a random time.
if [ "\${1:-}" = "--jitter" ]; then
  sleep "$(awk -v most=${getJitterSeconds(interval_seconds)} -v seed="$$" 'BEGIN { srand(); srand(srand() + seed); print int(rand() * (most + 1)) }')"
fi

metrics=
# Adds a metric if its value is a number; missing values are omitted.
metric() {
  case $2 in
    '' | *[!0-9.]* | *.*.* | . | .* | *.) return 0 ;;
  esac
  metrics="$metrics\${metrics:+,}\\"$1\\":$2"
}
metric load "$(awk '{ print $1; exit }' /proc/loadavg 2>/dev/null)"
metric memory_percent "$(awk '
  $1 == "MemTotal:" { total = $2 }
  $1 == "MemAvailable:" { free = $2; known = 1 }
  END { if (total > 0 && known) printf "%.1f", (total - free) * 100 / total }' /proc/meminfo 2>/dev/null)"
metric disk_percent "$(df -P / 2>/dev/null | awk 'NR == 2 { sub("%", "", $5); print $5 }')"
metric uptime_seconds "$(awk '{ printf "%d", $1; exit }' /proc/uptime 2>/dev/null)"

# The token is passed on standard input, because arguments are visible to every user of the machine.
printf 'header = "Authorization: Bearer %s"\\n' "$token" |
  curl --config - --silent --show-error --fail --max-time 10 --retry 0 --output /dev/null \\
    --header 'Content-Type: application/json' \\
    --data "{\\"source\\":\\"$source\\",\\"status\\":\\"ok\\",\\"interval\\":$interval,\\"metrics\\":{$metrics}}" \\
    "$url"
`;
}

function renderPowerShellScript({ url, source, interval_seconds }: ReportTarget): string {
  return `# Reports this machine to the Application Operations Service. Requires ${TOKEN_FILE_NAME} next to it, readable only by its user.
# Numbers are written with a point, whatever the language of the machine.
param([switch]$Jitter)
$ErrorActionPreference = 'Stop'
[System.Threading.Thread]::CurrentThread.CurrentCulture = [System.Globalization.CultureInfo]::InvariantCulture
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$token = (Get-Content -Raw -LiteralPath (Join-Path $PSScriptRoot '${TOKEN_FILE_NAME}')).Trim()
# Spreads the load: when started by a schedule, it waits for a random time.
if ($Jitter) { Start-Sleep -Seconds (Get-Random -Minimum 0 -Maximum ${getJitterSeconds(interval_seconds) + 1}) }

$metrics = @{}
# Missing values are omitted.
try { $metrics.load = [double](Get-CimInstance Win32_Processor | Measure-Object -Property LoadPercentage -Average).Average / 100 } catch { }
try {
  $os = Get-CimInstance Win32_OperatingSystem
  $metrics.memory_percent = [math]::Round(($os.TotalVisibleMemorySize - $os.FreePhysicalMemory) * 100 / $os.TotalVisibleMemorySize, 1)
  $metrics.uptime_seconds = [math]::Floor(((Get-Date) - $os.LastBootUpTime).TotalSeconds)
} catch { }
try {
  $disk = Get-CimInstance Win32_LogicalDisk -Filter ("DeviceID='" + $env:SystemDrive + "'")
  $metrics.disk_percent = [math]::Round(($disk.Size - $disk.FreeSpace) * 100 / $disk.Size, 1)
} catch { }

$body = @{ source = '${source}'; status = 'ok'; interval = ${interval_seconds}; metrics = $metrics } | ConvertTo-Json -Depth 3 -Compress
Invoke-RestMethod -Method Post -Uri '${url}' -Headers @{ Authorization = "Bearer $token" } -ContentType 'application/json' -Body $body -TimeoutSec 10 | Out-Null
`;
}

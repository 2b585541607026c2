/** Sources and tokens need no shell quoting. */
export interface Snippet {
  label: string;
  text: string;
}

/**
 * @param url `server.base_url` without a trailing slash
 * @param token or its placeholder, `$SVC_TOKEN`
 * @param timezone IANA, of the crontab
 */
export function buildReportingSnippets(url: string, source: string, token: string, timezone = 'UTC'): Snippet[] {
  const ping = `${url}/ping/${token}`;
  const body = JSON.stringify({ source, interval: 60, metrics: { load: 0.5 } });
  return [
    {
      label: 'Cron: report a nightly job’s result',
      text: `0 3 * * * /usr/local/bin/backup; curl -fsS -m 10 --retry 3 -o /dev/null "${ping}/$??schedule=0+3+*+*+*&timezone=${timezone}"`,
    },
    { label: 'Send a heartbeat', text: `curl -fsS -m 10 --retry 3 -o /dev/null ${ping}` },
    {
      label: 'Send metrics',
      text: `curl -fsS -m 10 --retry 3 -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' -d '${body}' ${url}/api/watchdog/v1/ping`,
    },
    { label: 'Cron: every minute', text: `* * * * * curl -fsS -m 10 --retry 3 -o /dev/null ${ping}` },
  ];
}

/**
 * Parts of configuration files; each job reports success or failure.
 * @param url `server.base_url` without a trailing slash
 * @param token or its placeholder
 */
export function buildSchedulerSnippets(url: string, token: string): Snippet[] {
  const ping = `${url}/ping/${token}`;
  const curl = 'curl -fsS -m 10 --retry 3 -o /dev/null';
  return [
    {
      label: 'systemd service unit',
      text: [
        '[Unit]',
        'OnFailure=aos-failed.service',
        '[Service]',
        `ExecStartPost=/usr/bin/${curl} ${ping}`,
        '',
        '# aos-failed.service',
        '[Service]',
        'Type=oneshot',
        `ExecStart=/usr/bin/${curl} ${ping}/fail`,
      ].join('\n'),
    },
    {
      label: 'Python',
      text: [
        'import urllib.request',
        `PING = "${ping}"`,
        'def tell(end, text=""):',
        '    urllib.request.urlopen(PING + end, data=text.encode(), timeout=10)',
        'tell("/start")',
        'try:',
        '    pass  # the work',
        'except Exception as error:',
        '    tell("/fail", repr(error))',
        '    raise',
        'tell("")',
      ].join('\n'),
    },
    {
      label: 'PowerShell',
      text: [
        'try {',
        '  # the work',
        `  Invoke-RestMethod -TimeoutSec 10 "${ping}" | Out-Null`,
        '} catch {',
        `  Invoke-RestMethod -TimeoutSec 10 -Method Post -Body "$_" "${ping}/fail" | Out-Null`,
        '  throw',
        '}',
      ].join('\n'),
    },
    {
      label: 'GitHub Actions (token in secret SVC_TOKEN)',
      text: [
        '- if: success()',
        `  run: ${curl} ${url}/ping/\${{ secrets.SVC_TOKEN }}`,
        '- if: failure()',
        `  run: ${curl} ${url}/ping/\${{ secrets.SVC_TOKEN }}/fail`,
      ].join('\n'),
    },
    {
      label: 'Kubernetes CronJob (token in secret aos)',
      text: [
        'command: ["/bin/sh", "-c"]',
        'args:',
        `  - /usr/local/bin/work; end=$?; ${curl} "${url}/ping/$SVC_TOKEN/$end"; exit $end`,
        'env:',
        '  - name: SVC_TOKEN',
        '    valueFrom: { secretKeyRef: { name: aos, key: wd-token } }',
      ].join('\n'),
    },
  ];
}

const escapeText = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] as string);

export function buildBadgeSnippets(url: string, id: string, name: string): Snippet[] {
  const image = `${url}/badge/${id}.svg`;
  const page = `${url}/status/${id}`;
  const plain = name.replace(/[[\]\\\n]/g, ' ');
  return [
    { label: 'Markdown', text: `[![${plain}](${image})](${page})` },
    { label: 'HTML', text: `<a href="${page}"><img src="${image}" alt="${escapeText(name)}"></a>` },
    { label: 'Badge URL', text: image },
  ];
}

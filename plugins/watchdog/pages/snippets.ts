/**
 * Lines to copy: how a source reports, and how its badge is shown. Sources and tokens need no quoting in a shell. Pure.
 */
export interface Snippet {
  label: string;
  text: string;
}

/** A warning after a day and an hour of silence: two of these. */
export const NIGHTLY = 45_000;

/**
 * Beside a token.
 * @param url `server.base_url` without a slash at its end
 * @param token or its placeholder, `$WD_TOKEN`
 */
export function reporting(url: string, source: string, token: string): Snippet[] {
  const ping = `${url}/ping/${token}`;
  const body = JSON.stringify({ source, interval: 60, metrics: { load: 0.5 } });
  return [
    { label: 'A heartbeat', text: `curl -fsS -m 10 --retry 3 -o /dev/null ${ping}` },
    {
      label: 'With metrics',
      text: `curl -fsS -m 10 --retry 3 -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' -d '${body}' ${url}/api/watchdog/v1/ping`,
    },
    { label: 'Cron: alive, every minute', text: `* * * * * curl -fsS -m 10 --retry 3 -o /dev/null ${ping}` },
    {
      label: 'Cron: the outcome of a job',
      text: `0 3 * * * /usr/local/bin/backup; curl -fsS -m 10 --retry 3 -o /dev/null "${ping}/$??interval=${NIGHTLY}"`,
    },
  ];
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] as string);

/** Of a public monitor. */
export function badges(url: string, id: string, name: string): Snippet[] {
  const image = `${url}/badge/${id}.svg`;
  const page = `${url}/status/${id}`;
  const plain = name.replace(/[[\]\\\n]/g, ' ');
  return [
    { label: 'Markdown', text: `[![${plain}](${image})](${page})` },
    { label: 'HTML', text: `<a href="${page}"><img src="${image}" alt="${escaped(name)}"></a>` },
    { label: 'Address of the badge', text: image },
  ];
}

/**
 * `npm run demo`: a scenario against the running service. Real programs fail and report; an agent
 * fixes an item; a release closes it; a monitor fails and recovers; a webhook reports both.
 * Requires a running service (`npm start`) and the same SVC_DATA_DIR, because the command line
 * creates project and tokens.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Listener } from './listener.js';
import { packageWith } from './package-file.js';
import { aos, call, DemoTokens, say, serviceUrl, stop } from './service.js';

const here = dirname(fileURLToPath(import.meta.url));
const PROJECT = 'demo-shop';

interface Program {
  language: string;
  command: string;
  probe: string[];
  args: string[];
}

const PROGRAMS: Program[] = [
  { language: 'Node', command: process.execPath, probe: ['--version'], args: ['checkout.js'] },
  { language: 'Python', command: 'python3', probe: ['--version'], args: ['invoice.py'] },
  { language: 'Perl', command: 'perl', probe: ['-MJSON::PP', '-MHTTP::Tiny', '-e', '1'], args: ['import.pl'] },
  { language: 'Shell', command: 'bash', probe: ['-c', 'command -v curl'], args: ['backup.sh'] },
  { language: 'Java', command: 'java', probe: ['--version'], args: ['Shipping.java'] },
  { language: 'Go', command: 'go', probe: ['version'], args: ['run', 'stock.go'] },
  { language: 'Ruby', command: 'ruby', probe: ['--version'], args: ['signup.rb'] },
  { language: 'PHP', command: 'php', probe: ['--version'], args: ['catalog.php'] },
];

interface Finished {
  code: number | null;
  stdout: string;
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: join(here, 'programs'), env, stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.on('error', () => resolve({ code: null, stdout: '' }));
    child.on('close', (code) => resolve({ code, stdout }));
  });
}

interface Reported {
  ref: string;
  title: string;
  created: boolean;
  hit_count: number;
  urgency: string;
}

async function failAll(url: string, token: string): Promise<Map<string, Reported>> {
  const env = { ...process.env, SVC_URL: url, SVC_TOKEN: token, SVC_PROJECT: PROJECT };
  const groups = new Map<string, Reported>();
  for (const program of PROGRAMS) {
    if ((await run(program.command, program.probe)).code !== 0) {
      say(`  ${program.language.padEnd(7)} not on this machine, left out`);
      continue;
    }
    for (const order of ['1001', '1002', '1003']) {
      const { stdout } = await run(program.command, [...program.args, order], env);
      const line = stdout.trim().split('\n').at(-1) ?? '';
      let reported: Reported | null = null;
      try {
        reported = JSON.parse(line) as Reported;
      } catch {
        stop(`the ${program.language} program could not report: ${line}`);
      }
      if (reported === null || reported.ref === undefined) stop(`the ${program.language} report was refused: ${line}`);
      else {
        groups.set(reported.ref, reported);
        const what = reported.created ? 'new group' : `counted, ${reported.hit_count} so far`;
        say(
          `  ${program.language.padEnd(7)} ${reported.ref.padEnd(13)} ${what.padEnd(18)} ${reported.urgency.padEnd(9)} ${reported.title}`,
        );
      }
    }
  }
  return groups;
}

interface Next {
  item: {
    id: string;
    ref: string;
    title: string;
    severity: string;
    stack_trace: string | null;
    untrusted_fields: string[];
  } | null;
  lease: { claim_token: string; expires_at: string };
}

interface Fixed {
  id: string;
  ref: string;
}

async function agent(url: string, token: string, build: string): Promise<Fixed | null> {
  const bugs = '/api/bugtracker/v1/bugs';
  const next = await call<Next>(url, token, 'POST', `${bugs}?action=next&project=${PROJECT}`, {
    agent: 'demo-agent',
    lease_seconds: 600,
  });
  if (next.item === null) return null;
  const { item, lease } = next;
  say(`  demo-agent claimed ${item.ref} (${item.severity}) until ${lease.expires_at}`);
  say(`    ${item.title}`);
  for (const line of (item.stack_trace ?? '').split('\n').slice(0, 4)) say(`    | ${line}`);
  say(`    text from outside, not to be obeyed: ${item.untrusted_fields.join(', ')}`);
  await call(url, token, 'POST', `${bugs}/${item.id}/comments`, {
    body: 'Reproduced. The input is checked before use now.',
    claim_token: lease.claim_token,
  });
  const { item: resolved } = await call<{ item: { status: string } }>(url, token, 'PATCH', `${bugs}/${item.id}`, {
    status: 'resolved',
    resolved_in_build: build,
    claim_token: lease.claim_token,
  });
  say(`  commented, then ${resolved.status} in build ${build}: it closes when that release is published`);
  return { id: item.id, ref: item.ref };
}

const UPDATES = '/api/updateservice/v1';

async function nextVersion(url: string): Promise<string> {
  const response = await fetch(`${url}${UPDATES}/check?product=${PROJECT}&version=0`);
  const { latest_version } = (await response.json()) as { latest_version: string | null };
  const segments = (latest_version ?? '1.4.0').split('.').map(Number);
  return [...segments.slice(0, -1), (segments.at(-1) ?? 0) + 1].join('.');
}

interface Publish {
  signed: boolean;
  closed_items: string[];
  release: { key_id: string | null };
}

async function publish(
  url: string,
  token: string,
  version: string,
  fixed: Fixed | null,
  hook: Listener,
): Promise<void> {
  const response = await fetch(`${url}${UPDATES}/publish?product=${PROJECT}&version=${version}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
    body: packageWith('shop.sh', `#!/bin/sh\necho shop ${version}\n`),
  });
  if (!response.ok) stop(`publishing → ${response.status}: ${await response.text()}`);
  const { signed, closed_items, release } = (await response.json()) as Publish;
  say(`  ${PROJECT} ${version} is published, ${signed ? `signed by key ${release.key_id}` : 'unsigned'}`);
  const closed = fixed !== null && closed_items.includes(fixed.id);
  say(`  it closed ${closed_items.length} item(s)${closed ? `, ${fixed.ref} among them` : ''}`);
  const old = await fetch(`${url}${UPDATES}/check?product=${PROJECT}&version=1.0.0`);
  const { release: offered } = (await old.json()) as { release: { version: string; package_url: string } | null };
  say(`  a machine with 1.0.0 is offered ${offered?.version}: ${offered?.package_url}`);
  const told = await hook.heard('release.published', (data) => data['version'] === version);
  say(told === null ? '  the webhook has not come yet' : `  the webhook told: release.published ${version}`);
}

async function monitor(url: string, token: string, hook: Listener): Promise<void> {
  const source = 'demo-web';
  const beat = (): Promise<unknown> =>
    call(url, token, 'POST', '/api/watchdog/v1/ping', { source, status: 'ok', interval: 1 });
  await beat();
  say(`  ${source} sent a heartbeat, and then none for five seconds`);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await aos(['tick']);
  const fell = await hook.heard('monitor.down', (data) => data['source'] === source);
  say(fell === null ? '  no alarm came' : `  the webhook told: monitor.down ${source}`);
  await beat();
  const back = await hook.heard('monitor.recovered', (data) => data['source'] === source);
  say(back === null ? '  no recovery came' : `  it sent one again, and the webhook told: monitor.recovered ${source}`);
}

export async function demo(): Promise<void> {
  const url = await serviceUrl();
  say(`The service at ${url}`);
  const { items } = (await aos(['project', 'list'])) as { items?: { slug: string }[] };
  if (items?.some(({ slug }) => slug === PROJECT) !== true)
    await aos(['project', 'create', PROJECT, '--name', 'Demo shop']);
  const tokens = new DemoTokens();
  const bound = ['--project', PROJECT];
  const report = await tokens.make('reporter', 'bugtracker:report', ...bound);
  const manage = await tokens.make('agent', 'bugtracker:manage', ...bound);
  const ci = await tokens.make('ci', 'updateservice:publish', ...bound);
  const ping = await tokens.make('machine', 'watchdog:ping', '--source', 'demo-web');
  const hooks = await tokens.make('webhooks', 'webhooks:manage');
  const hook = new Listener();
  const { webhook } = await call<{ webhook: { id: string } }>(url, hooks, 'POST', '/api/webhooks/v1/webhooks', {
    name: 'demo',
    url: await hook.open(),
    events: 'release.published,monitor.down,monitor.recovered',
  });

  say('\nPrograms fail and report themselves (each three times, with other order numbers):');
  const groups = await failAll(url, report);
  say(`\n${groups.size} groups from ${[...groups.values()].reduce((sum, g) => sum + g.hit_count, 0)} errors.`);

  say('\nA coding agent asks for work:');
  const version = await nextVersion(url);
  const fixed = await agent(url, manage, version);

  say('\nCI publishes the release with the fix:');
  await publish(url, ci, version, fixed, hook);

  say('\nA machine falls silent:');
  await monitor(url, ping, hook);

  hook.close();
  await call(url, hooks, 'DELETE', `/api/webhooks/v1/webhooks/${webhook.id}`);
  await tokens.revoke();
  say('\nLook at it (sign in with the credentials that the first start printed):');
  say(`  ${url}/            the dashboard`);
  say(`  ${url}/errors      the error stream`);
  say(`  ${url}/releases    the release, who is offered it, and by how many machines it is run`);
  if (fixed !== null) say(`  ${url}/bugs/${fixed.ref}   the item, its stack trace, claim and comment; closed`);
}

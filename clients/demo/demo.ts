/**
 * `npm run demo`: a scenario against the running service. Real programs fail and report; an agent
 * fixes an item; a release closes it; a monitor fails and recovers; a webhook reports both.
 * Requires a running service (`npm start`) and the same SVC_DATA_DIR, because the command line
 * creates project and tokens.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebhookReceiver } from './listener.js';
import { buildPackage } from './package-file.js';
import { runAosCommand, callApi, DemoTokens, print, getServiceUrl, stopDemo } from './service.js';

const CURRENT_FOLDER = dirname(fileURLToPath(import.meta.url));
const PROJECT_SLUG = 'demo-shop';

interface FailingProgram {
  language: string;
  command: string;
  probe: string[];
  args: string[];
}

const FAILING_PROGRAMS: FailingProgram[] = [
  { language: 'Node', command: process.execPath, probe: ['--version'], args: ['checkout.js'] },
  { language: 'Python', command: 'python3', probe: ['--version'], args: ['invoice.py'] },
  { language: 'Perl', command: 'perl', probe: ['-MJSON::PP', '-MHTTP::Tiny', '-e', '1'], args: ['import.pl'] },
  { language: 'Shell', command: 'bash', probe: ['-c', 'command -v curl'], args: ['backup.sh'] },
  { language: 'Java', command: 'java', probe: ['--version'], args: ['Shipping.java'] },
  { language: 'Go', command: 'go', probe: ['version'], args: ['run', 'stock.go'] },
  { language: 'Ruby', command: 'ruby', probe: ['--version'], args: ['signup.rb'] },
  { language: 'PHP', command: 'php', probe: ['--version'], args: ['catalog.php'] },
];

interface ProcessResult {
  code: number | null;
  stdout: string;
}

function runProgram(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: join(CURRENT_FOLDER, 'programs'),
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.on('error', () => resolve({ code: null, stdout: '' }));
    child.on('close', (code) => resolve({ code, stdout }));
  });
}

interface ReportedItem {
  ref: string;
  title: string;
  created: boolean;
  hit_count: number;
  urgency: string;
}

async function runFailingPrograms(url: string, token: string): Promise<Map<string, ReportedItem>> {
  const env = { ...process.env, SVC_URL: url, SVC_TOKEN: token, SVC_PROJECT: PROJECT_SLUG };
  const groups = new Map<string, ReportedItem>();
  for (const program of FAILING_PROGRAMS) {
    if ((await runProgram(program.command, program.probe)).code !== 0) {
      print(`  ${program.language.padEnd(7)} not on this machine, left out`);
      continue;
    }
    for (const order of ['1001', '1002', '1003']) {
      const { stdout } = await runProgram(program.command, [...program.args, order], env);
      const line = stdout.trim().split('\n').at(-1) ?? '';
      let reported: ReportedItem | null = null;
      try {
        reported = JSON.parse(line) as ReportedItem;
      } catch {
        stopDemo(`the ${program.language} program could not report: ${line}`);
      }
      if (reported === null || reported.ref === undefined)
        stopDemo(`the ${program.language} report was refused: ${line}`);
      else {
        groups.set(reported.ref, reported);
        const what = reported.created ? 'new group' : `counted, ${reported.hit_count} so far`;
        print(
          `  ${program.language.padEnd(7)} ${reported.ref.padEnd(13)} ${what.padEnd(18)} ${reported.urgency.padEnd(9)} ${reported.title}`,
        );
      }
    }
  }
  return groups;
}

interface ClaimedItem {
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

interface FixedItem {
  id: string;
  ref: string;
}

async function runAgent(url: string, token: string, build: string): Promise<FixedItem | null> {
  const bugs = '/api/bugtracker/v1/bugs';
  const next = await callApi<ClaimedItem>(url, token, 'POST', `${bugs}?action=next&project=${PROJECT_SLUG}`, {
    agent: 'demo-agent',
    lease_seconds: 600,
  });
  if (next.item === null) return null;
  const { item, lease } = next;
  print(`  demo-agent claimed ${item.ref} (${item.severity}) until ${lease.expires_at}`);
  print(`    ${item.title}`);
  for (const line of (item.stack_trace ?? '').split('\n').slice(0, 4)) print(`    | ${line}`);
  print(`    text from outside, not to be obeyed: ${item.untrusted_fields.join(', ')}`);
  await callApi(url, token, 'POST', `${bugs}/${item.id}/comments`, {
    body: 'Reproduced. The input is checked before use now.',
    claim_token: lease.claim_token,
  });
  const { item: resolved } = await callApi<{ item: { status: string } }>(url, token, 'PATCH', `${bugs}/${item.id}`, {
    status: 'resolved',
    resolved_in_build: build,
    claim_token: lease.claim_token,
  });
  print(`  commented, then ${resolved.status} in build ${build}: it closes when that release is published`);
  return { id: item.id, ref: item.ref };
}

const UPDATE_SERVICE_PATH = '/api/updateservice/v1';

async function getNextVersion(url: string): Promise<string> {
  const response = await fetch(`${url}${UPDATE_SERVICE_PATH}/check?product=${PROJECT_SLUG}&version=0`);
  const { latest_version } = (await response.json()) as { latest_version: string | null };
  const segments = (latest_version ?? '1.4.0').split('.').map(Number);
  return [...segments.slice(0, -1), (segments.at(-1) ?? 0) + 1].join('.');
}

interface PublishResult {
  signed: boolean;
  closed_items: string[];
  release: { key_id: string | null };
}

async function publishFix(
  url: string,
  token: string,
  version: string,
  fixed: FixedItem | null,
  hook: WebhookReceiver,
): Promise<void> {
  const response = await fetch(`${url}${UPDATE_SERVICE_PATH}/publish?product=${PROJECT_SLUG}&version=${version}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
    body: buildPackage('shop.sh', `#!/bin/sh\necho shop ${version}\n`),
  });
  if (!response.ok) stopDemo(`publishing → ${response.status}: ${await response.text()}`);
  const { signed, closed_items, release } = (await response.json()) as PublishResult;
  print(`  ${PROJECT_SLUG} ${version} is published, ${signed ? `signed by key ${release.key_id}` : 'unsigned'}`);
  const closed = fixed !== null && closed_items.includes(fixed.id);
  print(`  it closed ${closed_items.length} item(s)${closed ? `, ${fixed.ref} among them` : ''}`);
  const old = await fetch(`${url}${UPDATE_SERVICE_PATH}/check?product=${PROJECT_SLUG}&version=1.0.0`);
  const { release: offered } = (await old.json()) as { release: { version: string; package_url: string } | null };
  print(`  a machine with 1.0.0 is offered ${offered?.version}: ${offered?.package_url}`);
  const event = await hook.waitForEvent('release.published', (data) => data['version'] === version);
  print(event === null ? '  the webhook has not come yet' : `  the webhook told: release.published ${version}`);
}

async function runMonitor(url: string, token: string, hook: WebhookReceiver): Promise<void> {
  const source = 'demo-web';
  const beat = (): Promise<unknown> =>
    callApi(url, token, 'POST', '/api/watchdog/v1/ping', { source, status: 'ok', interval: 1 });
  await beat();
  print(`  ${source} sent a heartbeat, and then none for five seconds`);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await runAosCommand(['tick']);
  const fell = await hook.waitForEvent('monitor.down', (data) => data['source'] === source);
  print(fell === null ? '  no alarm came' : `  the webhook told: monitor.down ${source}`);
  await beat();
  const back = await hook.waitForEvent('monitor.recovered', (data) => data['source'] === source);
  print(
    back === null ? '  no recovery came' : `  it sent one again, and the webhook told: monitor.recovered ${source}`,
  );
}

export async function runDemo(): Promise<void> {
  const url = await getServiceUrl();
  print(`The service at ${url}`);
  const { items } = (await runAosCommand(['project', 'list'])) as { items?: { slug: string }[] };
  if (items?.some(({ slug }) => slug === PROJECT_SLUG) !== true)
    await runAosCommand(['project', 'create', PROJECT_SLUG, '--name', 'Demo shop']);
  const tokens = new DemoTokens();
  const bound = ['--project', PROJECT_SLUG];
  const report = await tokens.create('reporter', 'bugtracker:report', ...bound);
  const manage = await tokens.create('agent', 'bugtracker:manage', ...bound);
  const ci = await tokens.create('ci', 'updateservice:publish', ...bound);
  const ping = await tokens.create('machine', 'watchdog:ping', '--source', 'demo-web');
  const hooks = await tokens.create('webhooks', 'webhooks:manage');
  const hook = new WebhookReceiver();
  const { webhook } = await callApi<{ webhook: { id: string } }>(url, hooks, 'POST', '/api/webhooks/v1/webhooks', {
    name: 'demo',
    url: await hook.open(),
    events: 'release.published,monitor.down,monitor.recovered',
  });

  print('\nPrograms fail and report themselves (each three times, with other order numbers):');
  const groups = await runFailingPrograms(url, report);
  print(`\n${groups.size} groups from ${[...groups.values()].reduce((sum, g) => sum + g.hit_count, 0)} errors.`);

  print('\nA coding agent asks for work:');
  const version = await getNextVersion(url);
  const fixed = await runAgent(url, manage, version);

  print('\nCI publishes the release with the fix:');
  await publishFix(url, ci, version, fixed, hook);

  print('\nA machine falls silent:');
  await runMonitor(url, ping, hook);

  hook.close();
  await callApi(url, hooks, 'DELETE', `/api/webhooks/v1/webhooks/${webhook.id}`);
  await tokens.revoke();
  print('\nLook at it (sign in with the credentials that the first start printed):');
  print(`  ${url}/            the dashboard`);
  print(`  ${url}/errors      the error stream`);
  print(`  ${url}/releases    the release, who is offered it, and by how many machines it is run`);
  if (fixed !== null) print(`  ${url}/bugs/${fixed.ref}   the item, its stack trace, claim and comment; closed`);
}

/** `npm run demo -- loop`: the life cycle of an application with the real programs. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebhookReceiver } from '../listener.js';
import { runAosCommand, callApi, DemoTokens, print, getServiceUrl, stopDemo } from '../service.js';
import { CodingAgent } from './coding-agent.js';
import { prepareAgentProgram, buildSdk, getMachineId } from './programs.js';
import { ShopReleases } from './shop-releases.js';
import { TillInstallation, type InstallerAccount } from './till.js';

const [FIRST, FIXED, BAD] = ['1.0.0', '1.1.0', '1.2.0'];
const WEBHOOK_EVENTS = ['bug.created', 'bug.resolved', 'release.published', 'release.halted', 'license.created'];

const TOKEN_SCOPES =
  'projects:manage,license:manage,webhooks:manage,watchdog:read,watchdog:ping,bugtracker:manage,updateservice:publish,bugtracker:report';
const SETUP_SCOPES = ['bugtracker:report', 'watchdog:ping'];

export interface LoopFacts {
  url: string;
  project: string;
  executable: boolean;
  ref: string;
  source: string;
  releases: { fixed: string; bad: string };
  bad: string;
  events: string[];
  seconds: number;
}

class ProgressPrinter {
  readonly #began = performance.now();
  get seconds(): number {
    return (performance.now() - this.#began) / 1_000;
  }
  printChapter(text: string): void {
    print(`\n${this.seconds.toFixed(1).padStart(6)} s  ${text}`);
  }
  printLine(text: string): void {
    print(`          ${text}`);
  }
}

export async function runLoop(): Promise<LoopFacts> {
  const url = await getServiceUrl();
  const folder = await mkdtemp(join(tmpdir(), 'aos-loop-'));
  const tokens = new DemoTokens();
  const hook = new WebhookReceiver();
  const left: (() => Promise<unknown>)[] = [];
  try {
    return await runStory({ url, folder, tokens, hook, left });
  } finally {
    // A failing cleanup must not prevent the others, nor revoke the token they need.
    const ended = await Promise.allSettled(left.toReversed().map((end) => end()));
    for (const end of ended) if (end.status === 'rejected') print(`left behind: ${String(end.reason)}`);
    hook.close();
    await tokens.revoke();
    await rm(folder, { recursive: true, force: true });
  }
}

interface LoopContext {
  url: string;
  folder: string;
  tokens: DemoTokens;
  hook: WebhookReceiver;
  left: (() => Promise<unknown>)[];
}

async function runStory({ url, folder, tokens, hook, left }: LoopContext): Promise<LoopFacts> {
  const progress = new ProgressPrinter();
  print(`The service at ${url}`);
  await buildSdk();
  const agent = await prepareAgentProgram(folder);
  const admin = await tokens.create('loop', TOKEN_SCOPES);
  const project = await createProject(url, admin);
  const provision = async (name: string, scopes: string): Promise<string> =>
    (
      await callApi<{ token: string }>(url, admin, 'POST', '/api/tokens/v1/provision', {
        name,
        scopes: [scopes],
        project,
      })
    ).token;
  const ci = await provision('ci', 'updateservice:publish');
  const manage = await provision('coding agent', 'bugtracker:manage');
  const { webhook } = await callApi<{ webhook: { id: string } }>(url, admin, 'POST', '/api/webhooks/v1/webhooks', {
    name: `loop of ${project}`,
    url: await hook.open(),
    events: WEBHOOK_EVENTS.join(','),
    project,
  });
  left.push(() => callApi(url, admin, 'DELETE', `/api/webhooks/v1/webhooks/${webhook.id}`));
  const installer = await createInstaller(project);
  left.push(() => runAosCommand(['user', 'delete', '--username', installer.username]));
  const releases = new ShopReleases(url, ci, project, folder);
  const hears = async (event: string, fits: (data: Record<string, unknown>) => boolean): Promise<void> => {
    if ((await hook.waitForEvent(event, fits)) === null) stopDemo(`The webhook was not told of ${event}.`);
    progress.printLine(`the webhook was told: ${event}`);
  };

  progress.printChapter(`CI packs ${project} ${FIRST} and publishes it`);
  const first = await releases.publish(FIRST, 'broken', 'The first release');
  progress.printLine(`${first.signed ? 'signed' : 'unsigned'}; everybody is offered it`);
  await hears('release.published', (data) => data['version'] === FIRST);

  progress.printChapter('A customer buys a license, and a technician installs the till unattended');
  const { key } = await callApi<{ key: string }>(url, admin, 'POST', '/api/license/v1/licenses', {
    product: project,
    licensee: 'Corner shop',
  });
  const till = new TillInstallation(join(folder, 'till'), agent);
  left.push(() => till.stop());
  await till.install(url, project, installer, key);
  const instance = await getMachineId(url, project, join(till.dir, 'cache'));
  progress.printLine(
    `${agent.executable ? "the agent's executable" : 'the agent'} installed ${await till.readVersion()} and started it`,
  );
  const monitors = (): Promise<{ items: { source: string; state: string; app_version: string | null }[] }> =>
    callApi(url, admin, 'GET', `/api/watchdog/v1/monitors?project=${project}`);
  const beats = (version: string) => async (): Promise<string | null> =>
    (await monitors()).items.find((monitor) => monitor.app_version === version && monitor.state === 'up')?.source ??
    null;
  const source = await waitFor(`heartbeats of ${FIRST}`, beats(FIRST));
  progress.printLine(`the watchdog hears ${source}: up, version ${FIRST}`);

  progress.printChapter('The till fails at the second order, and says so by the SDK');
  await hears('bug.created', () => true);

  progress.printChapter('A coding agent asks for work over MCP');
  const coder = new CodingAgent(url, manage);
  interface Taken {
    item: { id: string; ref: string; title: string; app_version?: string } | null;
    lease: { claim_token: string };
  }
  const assignment = await coder.callTool<Taken>('next', { agent: 'loop-coder', project });
  const item = assignment.item ?? stopDemo('There was no work.');
  // MCP marks external text for the model.
  progress.printLine(`it has ${item.ref}: ${item.title.replaceAll(/<\/?untrusted-\w+>/g, '')}`);
  await coder.callTool('resolve', {
    id: item.id,
    claim_token: assignment.lease.claim_token,
    resolved_in_build: FIXED,
    comment: 'Orders without a coupon have no percent to take off.',
  });
  progress.printLine(`and resolves it in ${FIXED}, which does not exist yet`);

  progress.printChapter(`CI publishes ${FIXED} for a tenth of the machines`);
  const second = await releases.publish(FIXED, 'fixed', 'Orders without a coupon', 10);
  if (!second.closed_items.includes(item.id)) stopDemo(`${FIXED} did not close ${item.ref}.`);
  progress.printLine(`publishing it closed ${item.ref}`);
  await hears('release.published', (data) => data['version'] === FIXED);
  await hears('bug.resolved', (data) => data['ref'] === item.ref);
  const shares =
    (await releases.raiseRollout(FIXED, [10, 25, 50, 100], instance, FIRST)) ?? stopDemo('The till is offered no fix.');
  progress.printLine(`this till is among the machines at ${shares.at(-1)} % (${shares.join(', ')})`);
  await waitFor(`heartbeats of ${FIXED}`, beats(FIXED));
  progress.printLine(
    `the till started the agent and ended; the agent replaced it by ${await till.readVersion()} and started it`,
  );
  await releases.raiseRollout(FIXED, [100], instance, FIRST);

  progress.printChapter('A release that is worse is published for some');
  const bad = await publishBadRelease(releases, instance);
  progress.printLine(`${bad.version} reached this till at ${bad.percent} %`);
  await waitFor(`heartbeats of ${bad.version}`, beats(bad.version));
  progress.printLine('it updated itself; now every order fails in another way');
  await hears('release.halted', (data) => data['version'] === bad.version);
  await till.stop();
  const { halted_at, id } = await releases.get(bad.version);
  if (halted_at === null || (await releases.isOffered(bad.version, instance, FIXED)))
    stopDemo(`${bad.version} is still offered.`);
  progress.printLine(`the rollout stopped by itself at ${halted_at}: nobody else is offered ${bad.version}`);

  progress.printChapter('Told from beginning to end');
  print('\nLook at it (sign in with the credentials that the first start printed):');
  for (const path of [`/bugs/${item.ref}`, `/releases/${id}`, `/monitors/${source}`, '/webhooks'])
    print(`  ${url}${path}`);
  return {
    url,
    project,
    executable: agent.executable,
    ref: item.ref,
    source,
    releases: { fixed: (await releases.get(FIXED)).id, bad: id },
    bad: bad.version,
    events: [...hook.getEventNames()],
    seconds: progress.seconds,
  };
}

async function createProject(url: string, token: string): Promise<string> {
  const path = '/api/projects/v1/projects';
  const { items } = await callApi<{ items: { slug: string }[] }>(url, token, 'GET', `${path}?limit=200`);
  const known = new Set(items.map(({ slug }) => slug));
  let n = 1;
  while (known.has(`loop-${n}`)) n++;
  const slug = `loop-${n}`;
  await callApi(url, token, 'POST', path, { slug, name: `The loop, ${n}`, setup_scopes: SETUP_SCOPES });
  return slug;
}

async function createInstaller(project: string): Promise<InstallerAccount> {
  const account = { username: `${project}-installer`, password: randomBytes(18).toString('base64url') };
  await runAosCommand(
    ['user', 'create', '--username', account.username, '--role', 'installer', '--password-stdin'],
    account.password,
  );
  return account;
}

/**
 * Publishes below 100 percent, because only such a rollout halts; repeats with another version if
 * this machine is excluded.
 */
async function publishBadRelease(
  releases: ShopReleases,
  instance: string,
): Promise<{ version: string; percent: number }> {
  for (const version of [BAD, '1.2.1', '1.2.2', '1.2.3']) {
    await releases.publish(version, 'worse', 'Rewritten', 10);
    const shares = await releases.raiseRollout(version, [10, 25, 50, 75, 99], instance, FIXED);
    if (shares !== null) return { version, percent: shares.at(-1) ?? 0 };
  }
  return stopDemo('No release below 100 % reached this machine.');
}

async function waitFor<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + 120_000; Date.now() < end;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return stopDemo(`Not seen within two minutes: ${what}`);
}

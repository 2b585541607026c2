/** `--action update` (contract 90, update): lock → recover → check → … → clean up, in steps where `min_version` wants them. */
import { rm } from 'node:fs/promises';
import { machineIdOf } from '../../shared/machine-id.js';
import { machinePlatform } from '../../shared/machine.js';
import { printable } from '../../shared/texts.js';
import { Failure, failureOf } from '../exit.js';
import { machineInstance } from '../machine.js';
import { below } from '../net/address.js';
import { download, OtherBytes } from '../net/download.js';
import { Http } from '../net/http.js';
import { bring } from '../update/bring.js';
import { credentialsOf } from '../update/credentials.js';
import { Installation, type Agent } from '../update/installation.js';
import { readOffline } from '../update/offline.js';
import { ask, type Found } from '../update/question.js';
import { Restart } from '../update/restart.js';
import { UpdateServer, type Question } from '../update/server.js';
import { checkSpace } from '../update/space.js';
import { waitForProcess } from '../update/wait.js';
import { reportRecovery } from './recover.js';

/** An old installation goes in steps (contract 40, publishing); a server that never ends them is not followed for ever. */
const MOST_STEPS = 8;

export async function update(agent: Agent): Promise<void> {
  const restart = new Restart(agent);
  try {
    await underLock(agent, restart);
  } catch (error) {
    // The application comes back whatever happened; the first failure is the one that counts.
    await restart.start().catch((late: unknown) => agent.output.warning(failureOf(late).message));
    throw error;
  }
  await restart.start();
}

async function underLock(agent: Agent, restart: Restart): Promise<void> {
  const installation = await Installation.open(agent);
  const http = new Http(agent.env, agent.hooks, agent.options.allowHttp, agent.signal);
  try {
    reportRecovery(agent.output, installation.recovered);
    const server = agent.options.server === null ? null : new UpdateServer(http, agent.options.server);
    if (agent.options.package === null) await fromServer(installation, http, server, restart);
    else await fromFile(installation, agent.options.package, server, restart);
  } finally {
    restart.installed = installation.manifest;
    restart.root = installation.layout.root;
    await http.close();
    await installation.close();
  }
}

async function fromServer(
  installation: Installation,
  http: Http,
  server: UpdateServer | null,
  restart: Restart,
): Promise<void> {
  const { agent, layout } = installation;
  if (server === null) throw new Failure('usage', '--server is missing: the address of the service');
  const asked = questionOf(installation);
  const { product, channel, platform } = asked;
  const version = installedVersion(asked.version);
  const question: Question = { product, version, channel, platform, instance: await instanceOf(installation, product) };
  for (let step = 0; step < MOST_STEPS; step++) {
    const fetched = await fetchOffered(installation, http, server, question);
    if (fetched === null) {
      if (step === 0) agent.output.upToDate(question.version);
      return;
    }
    const { found, archive } = fetched;
    await bring(installation, { release: found.release, archive, beforePlan: () => quiet(agent, restart) });
    await rm(archive, { force: true });
    agent.output.updated(question.version, found.release.manifest.version);
    question.version = found.release.manifest.version;
    if (!found.more) return;
  }
  agent.output.warning(
    `${MOST_STEPS} steps were taken, and ${layout.root} is not at the newest version yet: run the agent again`,
  );
}

/** What is offered, and its package. Bytes that are not the release's lead to one more question: it may have been replaced. */
async function fetchOffered(
  installation: Installation,
  http: Http,
  server: UpdateServer,
  question: Question,
): Promise<{ found: Found; archive: string } | null> {
  for (let attempt = 0; ; attempt++) {
    const found = await ask(installation, server, question);
    if (found === null) return null;
    try {
      return { found, archive: await fetchPackage(installation, http, server, found) };
    } catch (error) {
      if (!(error instanceof OtherBytes) || attempt > 0) throw error;
    }
  }
}

async function fetchPackage(
  { agent, layout }: Installation,
  http: Http,
  server: UpdateServer,
  found: Found,
): Promise<string> {
  const { options, output, hooks, signal } = agent;
  const { manifest } = found.release;
  const unpacked = manifest.files.reduce((sum, { size }) => sum + size, 0);
  await checkSpace(layout.root, manifest.package.size + unpacked, manifest.files.length);
  const { authorization, refused } = await credentialsOf(options, signal);
  const { sha256, size } = manifest.package;
  const notes = found.offered.notes === null ? '' : `: ${printable(found.offered.notes, 200)}`;
  output.note('downloading', { version: manifest.version, bytes: size }, `downloading ${manifest.version}${notes}`);
  return download(
    layout.download,
    { url: below(server.address, found.offered.packageUrl), size, sha256, authorization, refused },
    {
      http,
      hooks,
      signal,
      onAccepted: () => output.release(),
      onProgress: (done, before) => output.progress('downloading', done, size, before),
    },
  );
}

async function fromFile(
  installation: Installation,
  archive: string,
  server: UpdateServer | null,
  restart: Restart,
): Promise<void> {
  const { agent } = installation;
  const question = questionOf(installation);
  const release = await readOffline(installation, archive, question, server);
  if (release === null) {
    agent.output.upToDate(question.version ?? '');
    return;
  }
  await bring(installation, { release, archive, beforePlan: () => quiet(agent, restart) });
  agent.output.updated(question.version, release.manifest.version);
}

/** Nothing of the application runs any more: its service is stopped, the process that was named has ended. */
async function quiet({ options, signal }: Agent, restart: Restart): Promise<void> {
  await restart.stop();
  if (options.waitForPid !== null) await waitForProcess(options.waitForPid, options.waitSeconds, signal);
}

/** What is asked for: the options before what is installed. */
export function questionOf({
  agent,
  manifest,
}: Installation): Omit<Question, 'instance' | 'version'> & { version: string | null } {
  const { project, channel, platform, currentVersion, adopt } = agent.options;
  const product = project ?? manifest?.product ?? null;
  if (product === null) throw new Failure('usage', '--project is missing: nothing is installed that would name it');
  if (manifest !== null && manifest.product !== product && !adopt)
    throw new Failure('usage', `${manifest.product} is installed here, not ${product} (--adopt replaces it)`);
  const installed = manifest === null || manifest.platform === 'any' ? machinePlatform() : manifest.platform;
  return {
    product,
    channel: channel ?? manifest?.channel ?? 'stable',
    platform: platform ?? installed,
    version: currentVersion ?? manifest?.version ?? null,
  };
}

function installedVersion(version: string | null): string {
  if (version === null)
    throw new Failure('usage', 'nothing is installed here: give --current-version, or --action install');
  return version;
}

/** The name by which a staged rollout knows this machine. */
export async function instanceOf(installation: Installation, product: string): Promise<string> {
  const { id, kept } = await machineInstance(installation.state.current.instance);
  if (kept !== null) await installation.save({ ...installation.state.current, instance: kept });
  return machineIdOf(product, id);
}

/**
 * All values are resolved before any file is written (contract 90, setup.json); each file is
 * written atomically.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { toPrintable, toPrintableLines } from '../../../lib/text/printable.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import { promptChoice, promptHidden, promptText, promptYesNo, isInteractive } from '../prompts.js';
import { readSecret } from '../secrets.js';
import type { Agent, Installation } from '../update/installation.js';
import {
  parseDescription,
  getVariableName,
  type SetupDescription,
  type Provision,
  type Setting,
} from './description.js';
import { requestWritePermission } from './write-permission.js';
import { resolveSettings, type ResolvedSetting } from './resolve.js';
import { TargetFiles } from './targets.js';

const SETUP_FILE = 'setup.json';
const MAX_SETUP_BYTES = 1024 * 1024;
const MAX_TOKEN_BYTES = 64 * 1024;

export async function applySettings(installation: Installation, project: string): Promise<string | null> {
  const { agent, layout } = installation;
  const description = await loadDescription(installation);
  if (description === null) {
    if (agent.options.set.length > 0) throw new AgentFailure('usage', '--set: this release has no settings');
    return null;
  }
  const around = { env: agent.env, root: layout.root, project };
  const targets = new TargetFiles(around);
  const resolved = await resolveSettings(description, {
    around,
    given: await collectGivenValues(agent, description),
    read: (target) => targets.readValue(target),
    provision: (what) => provisionValue(agent, project, what),
    ask: isInteractive(agent.options)
      ? (setting, validateAnswer) => promptSetting(agent, setting, validateAnswer)
      : undefined,
    leave: async (missing) => requestWritePermission(installation, await targets.resolvePaths(missing)),
    warn: (text) => agent.output.warn(text),
  });
  for (const { setting, value, missing } of resolved)
    for (const target of missing)
      await targets.setValue(target, value, setting.type === 'secret' || setting.provision === 'token');
  const files = await targets.save();
  agent.output.printNote(
    'configured',
    { settings: resolved.map(toReportedSetting), files },
    `${files.length} settings files written`,
  );
  return description.post;
}

/** Never the value, which may be a secret. */
const toReportedSetting = ({ setting, source }: ResolvedSetting): { name: string; source: string } => ({
  name: setting.name,
  source,
});

export function printPostText(agent: Agent, post: string | null): void {
  if (post === null) return;
  const text = toPrintableLines(post);
  if (agent.output.json) agent.output.printNote('post', { text }, '');
  else agent.output.printPlain(`${text}\n`);
}

/**
 * Reads the description from the signed manifest, or from the file when an older server wrote the
 * manifest.
 */
async function loadDescription({ manifest, layout }: Installation): Promise<SetupDescription | null> {
  const setup = manifest?.setup ?? (await readSetup(join(layout.root, SETUP_FILE)));
  return setup === null ? null : parseDescription(setup);
}

async function readSetup(path: string): Promise<Readonly<Record<string, unknown>> | null> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > MAX_SETUP_BYTES) throw new AgentFailure('error', `${path} is longer than ${MAX_SETUP_BYTES} bytes`);
    const value: unknown = JSON.parse(await file.readFile('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new AgentFailure('error', `${path} is not a JSON object`);
    return { ...value };
  } catch (error) {
    if (error instanceof SyntaxError) throw new AgentFailure('error', `${path} is not valid JSON`, { cause: error });
    throw error;
  } finally {
    await file.close();
  }
}

/** Secrets are never read from the command line. */
async function collectGivenValues(
  { options, env }: Agent,
  { settings }: SetupDescription,
): Promise<Map<string, string>> {
  const given = new Map<string, string>();
  for (const setting of settings) {
    const value = await readSecret(env, getVariableName(setting.name));
    if (value !== null) given.set(setting.name, value);
  }
  for (const { name, value } of options.set) {
    const setting = settings.find((one) => one.name === name);
    if (setting === undefined)
      throw new AgentFailure('usage', `--set ${toPrintable(name, 64)}: the release does not have this setting`);
    if (setting.type === 'secret')
      throw new AgentFailure(
        'usage',
        `--set ${name}: a secret on the command line is visible to others; use ${getVariableName(name)}`,
      );
    given.set(name, value);
  }
  return given;
}

async function provisionValue(
  { options, output, network }: Agent,
  project: string,
  what: Provision,
): Promise<string | (() => Promise<string>) | null> {
  if (what === 'project') return project;
  if (what === 'license_key') return options.licenseKey;
  if (what === 'base_url') return options.server === null ? null : options.server.href.replace(/\/+$/, '');
  if (what === 'watchdog_source') return buildSource(project);
  const session = options.server === null ? null : await network.login(options.server);
  if (session === null) return null;
  return async () => {
    const answer = await session.post('token', { project, machine_name: hostname().slice(0, 200) }, MAX_TOKEN_BYTES);
    const { token, denied } = answer;
    if (typeof token !== 'string' || !/^[!-~]{1,500}$/.test(token))
      throw new AgentFailure('unverified', 'server response: token is not valid');
    if (Array.isArray(denied) && denied.length > 0)
      output.warn(`the token of the application was issued without ${denied.map(String).join(', ')}`);
    return token;
  };
}

const buildSource = (project: string): string =>
  `${project}-${hostname().replace(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, 128);

async function promptSetting(
  agent: Agent,
  setting: Setting,
  validateAnswer: (text: string) => string | null,
): Promise<string | null> {
  const { label, help, required, choices, type } = setting;
  const standard = setting.default === null ? '' : String(setting.default);
  const { signal } = agent;
  if (help !== null) agent.output.printPromptText(toPrintableLines(help));
  for (;;) {
    const answer = await answerOf();
    if (answer === '' && !required) return null;
    const why = answer === '' ? 'must be given' : validateAnswer(answer);
    if (why === null) return answer;
    agent.output.printPromptText(`${label} ${why}`);
  }

  async function answerOf(): Promise<string> {
    const option = `--set ${setting.name}`;
    if (choices !== null) return promptChoice(label, choices.map(String), standard, option, signal);
    if (type === 'secret') return (await promptHidden(`${label}: `, signal)) || standard;
    if (type === 'boolean') return String(await promptYesNo(label, setting.default === true, option, signal));
    return promptText(label, standard, option, signal);
  }
}

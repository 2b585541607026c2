import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AgentFailure } from '../exit.js';
import { quoteForCron } from '../monitoring/crontab.js';
import type { NightlyScheduler } from '../options/table.js';

export interface NightlyUpdate {
  project: string;
  dir: string;
  command: readonly string[];
}

export interface UnitFile {
  path: string;
  content: string;
}

export const getUnitName = (project: string): string => `update-agent-${project}`;

/** Spreads machines over the night: the same minute every day, different on each machine. */
export function pickNightlyTime(seed: string): { hour: number; minute: number } {
  const [first = 0, second = 0] = createHash('sha256').update(seed).digest();
  return { hour: 1 + (first % 4), minute: second % 60 };
}

/** @throws AgentFailure usage when the scheduler cannot pass an argument unchanged */
export function checkCommand({ command }: NightlyUpdate, scheduler: NightlyScheduler): void {
  if (command.some((word) => /\p{Cc}/u.test(word)))
    throw new AgentFailure('usage', 'a directory with control characters cannot be scheduled');
  const expanded = command.find((word) => scheduler === 'task' && /%[^%]+%/.test(word));
  if (expanded !== undefined)
    throw new AgentFailure('usage', `the Task Scheduler would expand the variable in ${expanded}`);
  const [program = ''] = command;
  if (scheduler === 'systemd' && /["'\\]/.test(program))
    throw new AgentFailure(
      'usage',
      `systemd does not run programs with quotes or backslashes in their path; move ${program} elsewhere, or choose --scheduler cron`,
    );
}

/** `%` and `$` are special to systemd, also within quotes; in the program path `$` is literal. */
const quoteForSystemd = (word: string, index: number): string => {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%');
  return `"${index === 0 ? escaped : escaped.replaceAll('$', '$$$$')}"`;
};

export function buildSystemdUnits(update: NightlyUpdate, folder: string): UnitFile[] {
  const name = getUnitName(update.project);
  const service = `[Unit]
Description=Nightly update of ${update.project}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
ExecStart=${update.command.map(quoteForSystemd).join(' ')}
TimeoutStartSec=2h
`;
  const timer = `[Unit]
Description=Nightly update of ${update.project}

[Timer]
OnCalendar=*-*-* 01:00:00
RandomizedDelaySec=4h
Persistent=yes

[Install]
WantedBy=timers.target
`;
  return [
    { path: join(folder, `${name}.service`), content: service },
    { path: join(folder, `${name}.timer`), content: timer },
  ];
}

export const getCronTag = (project: string): string => `# aos-update:${project}`;

export function buildCronLine(update: NightlyUpdate, { hour, minute }: { hour: number; minute: number }): string {
  const command = update.command.map(quoteForCron).join(' ');
  return `${minute} ${hour} * * * ${command} >/dev/null 2>&1 ${getCronTag(update.project)}`;
}

export function parseCronDir(line: string): string | null {
  const word = /'--dir' ((?:'[^']*'|\\.)+)/.exec(line)?.[1];
  return word?.replaceAll(/'([^']*)'|\\(.)/g, '$1$2') ?? null;
}

export function parseSystemdDir(unit: string): string | null {
  const word = /^ExecStart=.*"--dir" "((?:[^"\\]|\\.)*)"/m.exec(unit)?.[1];
  return word?.replaceAll(/\\(.)|%(%)|\$(\$)/g, '$1$2$3') ?? null;
}

export function parseLaunchdDir(plist: string): string | null {
  const word = /<string>--dir<\/string>\s*<string>([^<]*)<\/string>/.exec(plist)?.[1];
  return word === undefined ? null : unescapeXml(word);
}

export function parseTaskDir(xml: string): string | null {
  const words = unescapeXml(/<Arguments>([^<]*)<\/Arguments>/.exec(xml)?.[1] ?? '');
  const [, quoted, plain] = /--dir (?:"((?:[^"\\]|\\.)*)"|(\S+))/.exec(words) ?? [];
  return plain ?? quoted?.replaceAll(/(\\+)$/g, (slashes) => slashes.slice(slashes.length / 2)) ?? null;
}

const unescapeXml = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function buildLaunchdPlist(
  update: NightlyUpdate,
  folder: string,
  { hour, minute }: { hour: number; minute: number },
): UnitFile {
  const words = update.command.map((word) => `    <string>${escapeXml(word)}</string>`).join('\n');
  const content = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${getUnitName(update.project)}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>StartCalendarInterval</key>
  <dict>
    <key>Hour</key>
    <integer>${hour}</integer>
    <key>Minute</key>
    <integer>${minute}</integer>
  </dict>
</dict>
</plist>
`;
  return { path: join(folder, `${getUnitName(update.project)}.plist`), content };
}

/** Quotes by the rules of CommandLineToArgvW: quotes around, backslashes doubled before a quote. */
export const quoteForWindows = (word: string): string =>
  /^[^\s"]+$/.test(word) ? word : `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;

/**
 * Runs late when the machine was off, and never concurrently.
 * @param isSystem runs as SYSTEM, also while no one is logged on
 */
export function buildTaskXml({ project, command }: NightlyUpdate, isSystem: boolean): string {
  const [program = '', ...words] = command;
  const principal = isSystem
    ? '<UserId>S-1-5-18</UserId>\n      <RunLevel>HighestAvailable</RunLevel>'
    : '<LogonType>InteractiveToken</LogonType>\n      <RunLevel>LeastPrivilege</RunLevel>';
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Nightly update of ${escapeXml(project)}</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <StartBoundary>2026-01-01T01:00:00</StartBoundary>
      <Enabled>true</Enabled>
      <RandomDelay>PT4H</RandomDelay>
      <ScheduleByDay>
        <DaysInterval>1</DaysInterval>
      </ScheduleByDay>
    </CalendarTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      ${principal}
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>true</RunOnlyIfNetworkAvailable>
    <ExecutionTimeLimit>PT2H</ExecutionTimeLimit>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(program)}</Command>
      <Arguments>${escapeXml(words.map(quoteForWindows).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

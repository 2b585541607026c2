/** How a machine's script is started again and again (contract 60, agent). Pure. */

export interface Schedule {
  kind: 'cron' | 'schtasks';
  /** The five fields of a crontab, or the options of `schtasks /Create`. */
  expression: string;
  /** `{dir}` stands for the directory that the script lies in. */
  command: string;
}

/** Minutes that divide an hour, then hours that divide a day: what a crontab can repeat evenly. */
const MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const HOURS = [1, 2, 3, 4, 6, 8, 12, 24];

/**
 * The longest even step that is no longer than the interval: a heartbeat too many does no harm, one too few an alarm.
 */
export function stepOf(seconds: number): { minutes: number } | { hours: number } {
  const minutes = Math.max(1, Math.floor(seconds / 60));
  const hours = HOURS.findLast((step) => step * 60 <= minutes);
  if (hours !== undefined) return { hours };
  return { minutes: MINUTES.findLast((step) => step <= minutes) ?? 1 };
}

/** A stable number below `n` of a text: machines with one interval do not all report in the same minute. */
function spread(text: string, n: number): number {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return sum % n;
}

export function scheduleOf(platform: string, source: string, seconds: number, filename: string): Schedule {
  const step = stepOf(seconds);
  if (platform.startsWith('win-')) {
    const command = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File "{dir}\\${filename}" -Jitter`;
    return { kind: 'schtasks', expression: tasksOf(step), command };
  }
  return { kind: 'cron', expression: cronOf(step, source), command: `/bin/sh "{dir}/${filename}" --jitter` };
}

function tasksOf(step: ReturnType<typeof stepOf>): string {
  if ('minutes' in step) return `/SC MINUTE /MO ${step.minutes}`;
  return step.hours === 24 ? '/SC DAILY' : `/SC HOURLY /MO ${step.hours}`;
}

function cronOf(step: ReturnType<typeof stepOf>, source: string): string {
  if ('hours' in step) {
    const minute = spread(source, 60);
    if (step.hours === 24) return `${minute} ${spread(source, 24)} * * *`;
    return step.hours === 1 ? `${minute} * * * *` : `${minute} ${spread(source, step.hours)}-23/${step.hours} * * *`;
  }
  return step.minutes === 1 ? '* * * * *' : `${spread(source, step.minutes)}-59/${step.minutes} * * * *`;
}

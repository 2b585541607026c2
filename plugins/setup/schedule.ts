/** Builds the schedule of a machine's report script (contract 60, agent). */

export interface Schedule {
  kind: 'cron' | 'schtasks';
  expression: string;
  command: string;
}

/** Steps that divide an hour or a day, which a crontab can repeat evenly. */
const MINUTE_STEPS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const HOUR_STEPS = [1, 2, 3, 4, 6, 8, 12, 24];

/** Too many heartbeats are harmless, too few raise an alarm. */
export function getScheduleStep(seconds: number): { minutes: number } | { hours: number } {
  const minutes = Math.max(1, Math.floor(seconds / 60));
  const hours = HOUR_STEPS.findLast((step) => step * 60 <= minutes);
  if (hours !== undefined) return { hours };
  return { minutes: MINUTE_STEPS.findLast((step) => step <= minutes) ?? 1 };
}

/** Machines must not all report in the same minute. */
function hashToRange(text: string, n: number): number {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return sum % n;
}

export function buildSchedule(platform: string, source: string, seconds: number, filename: string): Schedule {
  const step = getScheduleStep(seconds);
  if (platform.startsWith('win-')) {
    const command = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File "{dir}\\${filename}" -Jitter`;
    return { kind: 'schtasks', expression: buildTaskOptions(step), command };
  }
  return {
    kind: 'cron',
    expression: buildCronExpression(step, source),
    command: `/bin/sh "{dir}/${filename}" --jitter`,
  };
}

function buildTaskOptions(step: ReturnType<typeof getScheduleStep>): string {
  if ('minutes' in step) return `/SC MINUTE /MO ${step.minutes}`;
  return step.hours === 24 ? '/SC DAILY' : `/SC HOURLY /MO ${step.hours}`;
}

function buildCronExpression(step: ReturnType<typeof getScheduleStep>, source: string): string {
  if ('hours' in step) {
    const minute = hashToRange(source, 60);
    if (step.hours === 24) return `${minute} ${hashToRange(source, 24)} * * *`;
    return step.hours === 1
      ? `${minute} * * * *`
      : `${minute} ${hashToRange(source, step.hours)}-23/${step.hours} * * *`;
  }
  return step.minutes === 1 ? '* * * * *' : `${hashToRange(source, step.minutes)}-59/${step.minutes} * * * *`;
}

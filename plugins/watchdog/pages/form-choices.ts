import type { WatchdogServices } from '../services.js';

export interface FormChoice {
  value: string;
  label: string;
}

const MAX_PARENT_CHOICES = 200;
const MAX_PROPOSED_MONITORS = 500;

export async function listProjectChoices({ projects }: WatchdogServices): Promise<FormChoice[]> {
  const all = await projects.list();
  return all
    .map(({ slug, name }) => ({ value: slug, label: name }))
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en') || (a.value < b.value ? -1 : 1));
}

/**
 * Returns null when too many for a select.
 * @param chosen is always included
 */
export async function listParentChoices(
  { status }: WatchdogServices,
  chosen: string | undefined,
): Promise<string[] | null> {
  const parents = await status.listParents();
  if (parents.length > MAX_PARENT_CHOICES) return null;
  return chosen === undefined || parents.includes(chosen) ? parents : [chosen, ...parents];
}

export async function listProposedParents({ monitors }: WatchdogServices): Promise<FormChoice[]> {
  return toParentChoices((await monitors.listPage({ limit: MAX_PROPOSED_MONITORS })).items);
}

export const toParentChoices = (monitors: readonly { source: string; name: string }[]): FormChoice[] =>
  monitors
    .slice(0, MAX_PROPOSED_MONITORS)
    .map(({ source, name }) => ({ value: source, label: name === source ? '' : name }));

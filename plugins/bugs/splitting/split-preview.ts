import type { ItemDoc } from '../item/model.js';
import type { Difference } from '../grouping/report-difference.js';
import type { SplitHalves, FieldVariety } from './split-halves.js';
import type { GroupedOccurrence } from './grouped-occurrences.js';
import { computeShares } from './counter-shares.js';

const MAX_SAMPLES = 5;
const MAX_MESSAGE_LENGTH = 300;

export interface SplitSample {
  id: string;
  occurred_at: string;
  error_message: string | null;
  exception_class: string | null;
  file_path: string | null;
  app_version: string | null;
  environment: string | null;
  host: string | null;
  untrusted_fields: string[];
}

export interface SplitSide {
  occurrences: number;
  hits: number;
  keys: number;
  samples: SplitSample[];
}

export interface SplitPreview {
  differences: FieldVariety[];
  leaves: SplitSide | null;
  stays: SplitSide | null;
  /** Proportional, because not every occurrence is stored. */
  estimated: boolean;
  by: Difference | null;
  says: string;
}

const FIELD_LABELS: Record<Difference['field'], string> = {
  exception_class: 'the class',
  file: 'the file',
  function: 'the function',
  message: 'a message that matches the pattern',
  app_version: 'the version',
  environment: 'the environment',
  host: 'the host',
  tag: 'the tag',
};

export function describeDifference({ field, values }: Difference): string {
  const shown = values.slice(0, 5).map((value) => value.slice(0, 80));
  return `${FIELD_LABELS[field]} ${shown.join(' or ')}${values.length > shown.length ? ' or …' : ''}`;
}

export function buildSplitPreview(
  item: ItemDoc,
  differences: FieldVariety[],
  halves: SplitHalves | null,
): SplitPreview {
  if (halves === null)
    return { differences, leaves: null, stays: null, estimated: false, by: null, says: 'Nothing selected.' };
  const { leaves, stays, keys, parts, difference } = halves;
  const { hits, estimated } = computeShares(item, halves);
  const staying = new Set([...stays.map(({ key }) => key), ...parts.map(({ shared }) => shared)]);
  return {
    differences,
    leaves: { occurrences: leaves.length, hits, keys: keys.length + parts.length, samples: listSamples(leaves) },
    stays: {
      occurrences: stays.length,
      hits: item.hit_count - hits,
      keys: staying.size,
      samples: listSamples(stays),
    },
    estimated,
    by: difference,
    says: formatSentence(difference, keys.length),
  };
}

function formatSentence(difference: Difference | null, keys: number): string {
  const whole = keys === 0 ? [] : [keys === 1 ? 'one grouping key' : `${keys} grouping keys`];
  const part = difference === null ? [] : [describeDifference(difference)];
  return `The new issue gets later events with ${[...whole, ...part].join(' and ')}.`;
}

const UNTRUSTED_SAMPLE_FIELDS = [
  'error_message',
  'exception_class',
  'file_path',
  'app_version',
  'environment',
  'host',
] as const;

const listSamples = (half: readonly GroupedOccurrence[]): SplitSample[] =>
  half
    .slice(-MAX_SAMPLES)
    .toReversed()
    .map(({ doc }) => ({
      id: doc.occurrence_id,
      occurred_at: doc.occurred_at,
      error_message: doc.error_message?.slice(0, MAX_MESSAGE_LENGTH) ?? null,
      exception_class: doc.exception_class,
      file_path: doc.file_path,
      app_version: doc.app_version,
      environment: doc.environment,
      host: doc.host,
      untrusted_fields: UNTRUSTED_SAMPLE_FIELDS.filter((field) => doc[field] !== null),
    }));

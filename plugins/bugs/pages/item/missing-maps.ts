/**
 * Maps that an occurrence reports as missing (contract 21, Beyond the specification: what
 * JavaScript and releases need). Only validated debug ids are used, so no one can inject a command.
 */
import { isGuid } from '../../../../lib/text/guid.js';
import type { Json } from '../../../../ports/store/index.js';

const MAX_MISSING_MAPS = 5;

export interface MissingMaps {
  debug_ids: string[];
  command: string;
}

export function findMissingMaps(context: Json, project: string, baseUrl: string): MissingMaps | null {
  if (context === null || typeof context !== 'object' || Array.isArray(context)) return null;
  const given = context['missing_source_maps'];
  if (!Array.isArray(given)) return null;
  const ids = given.slice(0, MAX_MISSING_MAPS).flatMap((one) => {
    const id = one !== null && typeof one === 'object' && !Array.isArray(one) ? one['debug_id'] : null;
    return typeof id === 'string' && isGuid(id) ? [id] : [];
  });
  if (ids.length === 0) return null;
  const url = baseUrl.replace(/\/$/, '');
  const command = `sentry-cli --url ${url} sourcemaps upload --org aos --project ${project} ./dist`;
  return { debug_ids: [...new Set(ids)], command };
}

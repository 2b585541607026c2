/**
 * Without parsing megabytes of JSON: the service wrote the text, so the member order is fixed and
 * quotation marks in paths are escaped.
 */
import type { ManifestFile } from '../../../lib/formats/manifest.js';

const LIST_START = '"files":[';
const NEXT_ENTRY = ',{"path":';
const LIST_END = '],"preserve_patterns":';

export function listFirstFiles(manifest: string, most: number): ManifestFile[] {
  const from = manifest.indexOf(LIST_START) + LIST_START.length - 1;
  let to = from;
  for (let n = 0; n < most; n++) {
    const next = manifest.indexOf(NEXT_ENTRY, to + 1);
    if (next < 0) {
      to = manifest.indexOf(LIST_END, to);
      break;
    }
    to = next;
  }
  return JSON.parse(`${manifest.slice(from, to)}]`) as ManifestFile[];
}

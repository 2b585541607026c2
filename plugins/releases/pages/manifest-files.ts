/**
 * The first files of a manifest, without reading all of it: 200,000 files are megabytes of JSON. The text is our own,
 * so its order of members is known, and a quotation mark within a path is escaped. Pure.
 */
import type { ManifestFile } from '../../../formats/manifest.js';

const LIST = '"files":[';
const NEXT = ',{"path":';
const END = '],"preserve_patterns":';

export function firstFiles(manifest: string, most: number): ManifestFile[] {
  const from = manifest.indexOf(LIST) + LIST.length - 1;
  let to = from;
  for (let n = 0; n < most; n++) {
    const next = manifest.indexOf(NEXT, to + 1);
    if (next < 0) {
      to = manifest.indexOf(END, to);
      break;
    }
    to = next;
  }
  return JSON.parse(`${manifest.slice(from, to)}]`) as ManifestFile[];
}

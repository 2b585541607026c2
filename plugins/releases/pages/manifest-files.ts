/**
 * Reads the first files of a manifest without parsing megabytes of JSON. The service wrote the
 * text, so the member order is fixed and quotation marks in paths are escaped.
 */
import type { ManifestFile } from '../../../lib/formats/manifest.js';

const LIST = '"files":[';
const NEXT = ',{"path":';
const END = '],"preserve_patterns":';

export function listFirstFiles(manifest: string, most: number): ManifestFile[] {
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

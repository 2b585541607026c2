/** Native crash reports (contract 21, amendments). Every pattern is bounded and anchored. */
import { isSystemFunction, isSystemImage } from '../../../lib/text/system-images.js';
import { createParsedFrame, type ParsedFrame } from './parsed-frame.js';

interface NativeLine {
  pattern: RegExp;
  groups: readonly [image: number, name: number, file: number, line: number];
}

const NO_GROUP = 0;
const NATIVE_LINES: readonly NativeLine[] = [
  {
    // `4 Shop 0x0000000104a1b2c4 -[Cart total] + 44 (Cart.m:12)`, or a full address as the name.
    pattern:
      /^\d{1,4}\s{1,8}(\S[^\t]{0,80}?)\s{1,60}0x[0-9a-f]{6,16}\s{1,4}(?:0x[0-9a-f]{6,16}|(\S.{0,600}?))(?:\s\+\s\d{1,12})?(?: \(in [^()]{1,100}\))?(?:(?: \+ \d{1,12})? \(([^()]{1,300}):(\d{1,9})\))?$/i,
    groups: [1, 2, 3, 4],
  },
  {
    // `#01 pc 0000000000012345  /data/app/…/libshop.so (Cart_total+44) (BuildId: …)`
    pattern:
      /^#\d{1,4}\s{1,4}pc [0-9a-f]{6,16}\s{1,4}(\S[^()]{0,400}?)(?: \(offset 0x[0-9a-f]{1,16}\))?(?: \((.{1,600}?)(?:\+\d{1,12})?\))?(?: \(BuildId: [0-9a-f]{1,64}\))?$/i,
    groups: [1, 2, NO_GROUP, NO_GROUP],
  },
  {
    // `02 00000012`34567890 00007ff8`12345678  shop!Cart::total+0x44 [C:\src\cart.cpp @ 12]`
    pattern:
      /^[0-9a-f]{2,4} (?:[0-9a-f]{8}`?[0-9a-f]{0,8} ){1,2}\s{0,8}([\w.-]{1,100})!(\S.{0,600}?)(?:\+0x[0-9a-f]{1,16})?(?: \[(.{1,400}) @ (\d{1,9})\])?$/i,
    groups: [1, 2, 3, 4],
  },
  {
    pattern:
      /^\d{1,4} {1,4}([\w.+-]{1,100})!(\S.{0,600}?)(?: \[(.{1,400}?) : (\d{1,9}) \+ 0x[0-9a-f]{1,16}\]| \+ 0x[0-9a-f]{1,16})?$/i,
    groups: [1, 2, 3, 4],
  },
  {
    // `/opt/shop/shopd(_ZN4Cart5totalEv+0x44) [0x555512345678]`
    pattern: /^(\S{1,400})\((\S{0,600}?)(?:\+0x[0-9a-f]{1,16})?\) ?\[0x[0-9a-f]{4,16}\]$/i,
    groups: [1, 2, NO_GROUP, NO_GROUP],
  },
];

const NATIVE_HINT = /0x[0-9a-f]{4}|^#\d{1,4}\s+pc |!|^[0-9a-f]{2,4} [0-9a-f]{8}/i;

const getImageName = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

export function parseNativeFrame(line: string): ParsedFrame | null {
  if (!NATIVE_HINT.test(line)) return null;
  for (const { pattern, groups } of NATIVE_LINES) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const at = (index: number): string | null => (index === NO_GROUP ? null : (found[index] ?? null));
    const [image, name, file, number] = [at(groups[0]) ?? '', at(groups[1]), at(groups[2]), at(groups[3])];
    const made = createParsedFrame('native', file ?? getImageName(image), name, number);
    made.image = image;
    return made;
  }
  return null;
}

/** Apple: the exception's own frames, else the crashed thread's. */
const CRASH_HEADERS = [
  /^Last Exception Backtrace:/m,
  /^Thread \d{1,5}(?: name:[^\n]{0,200}\n+Thread \d{1,5})? Crashed\b/m,
];
const MAX_TOP_FRAMES = 3;

/** Prefers the application's own images; otherwise joins three function names. */
export function findCrashFrame(frames: readonly ParsedFrame[], text: string): ParsedFrame | null {
  const block = selectCrashedThread(frames, text);
  const own = block.find(
    ({ image, function: name }) => !isSystemImage(image ?? '') && !(name !== null && isSystemFunction(name)),
  );
  const [first] = block;
  if (own !== undefined || first === undefined) return own ?? null;
  const names = block.flatMap(({ function: name }) => name ?? []).slice(0, MAX_TOP_FRAMES);
  // The page marks this frame.
  return names.length === 0 ? first : Object.assign(first, { function: names.join(' | ') });
}

function selectCrashedThread(frames: readonly ParsedFrame[], text: string): readonly ParsedFrame[] {
  for (const pattern of CRASH_HEADERS) {
    const start = pattern.exec(text)?.index ?? -1;
    if (start < 0) continue;
    const from = text.slice(0, start).split('\n').length - 1;
    const rest = frames.filter(({ line }) => line > from);
    const end = rest.findIndex(({ line }, i) => i > 0 && line > (rest[i - 1]?.line ?? 0) + 1);
    const block = end < 0 ? rest : rest.slice(0, end);
    if (block.some(({ function: name }) => name !== null)) return block;
  }
  return frames;
}

/**
 * Origin of Rust errors (contract 21, first frame): traces begin with panic machinery or the SDK's
 * frames.
 */

export interface RustFrame {
  function: string | null;
  file: string | null;
}

const MACHINERY_PATTERN =
  /^(?:std::panicking\b|core::panicking\b|(?:__rustc::)?(?:rust_begin_unwind|rust_panic)|core::(?:option|result)\b|std::(?:sys(?:_common)?::)?backtrace|sentry(?:_[a-z]{1,30})*::|backtrace(?:_rs)?::)/;
const MACHINERY_FILE_PATTERN =
  /[\\/]library[\\/](?:core[\\/]src[\\/](?:panicking|option|result)|std[\\/]src[\\/](?:panicking|(?:sys[\\/])?backtrace))\.rs$|[\\/](?:sentry(?:-[a-z]{1,30}){0,4}|backtrace)-\d{1,6}\.\d[^\\/]{0,40}[\\/]src[\\/]/;
const LIBRARY_PATTERN = /^(?:std|core|alloc)::/;
const LIBRARY_FILE_PATTERN = /(?:^|[\\/])library[\\/](?:std|core|alloc)[\\/]src[\\/]/;

/** `<&dyn core::ops::Fn>`. */
const toPlainName = (name: string | null): string => (name ?? '').slice(0, 200).replace(/^[<&*\s]+(?:dyn |mut )?/, '');

const isMachinery = ({ function: name, file }: RustFrame): boolean =>
  MACHINERY_PATTERN.test(toPlainName(name)) || (file !== null && MACHINERY_FILE_PATTERN.test(file));
const isLibrary = ({ function: name, file }: RustFrame): boolean =>
  LIBRARY_PATTERN.test(toPlainName(name)) || (file !== null && LIBRARY_FILE_PATTERN.test(file));

/**
 * Counts the frames of the code that captured the trace, including library frames in between;
 * library frames after the last one are the origin.
 * @param frames innermost first
 */
export function countRustMachineryFrames(frames: readonly RustFrame[]): number {
  let count = 0;
  for (const [i, frame] of frames.entries()) {
    if (isMachinery(frame)) count = i + 1;
    else if (!isLibrary(frame)) break;
  }
  return count < frames.length ? count : 0;
}

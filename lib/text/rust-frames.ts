/**
 * Where a Rust error comes from (contract 21, first frame): a panic's trace begins with the panic machinery, one that
 * an SDK took with the SDK's own frames. Names alone are not enough, because inlined functions lose their crate; so
 * file paths are checked too. Pure, linear.
 */

export interface RustFrame {
  function: string | null;
  file: string | null;
}

const MACHINERY =
  /^(?:std::panicking\b|core::panicking\b|(?:__rustc::)?(?:rust_begin_unwind|rust_panic)|core::(?:option|result)\b|std::(?:sys(?:_common)?::)?backtrace|sentry(?:_[a-z]{1,30})*::|backtrace(?:_rs)?::)/;
const MACHINERY_FILE =
  /[\\/]library[\\/](?:core[\\/]src[\\/](?:panicking|option|result)|std[\\/]src[\\/](?:panicking|(?:sys[\\/])?backtrace))\.rs$|[\\/](?:sentry(?:-[a-z]{1,30}){0,4}|backtrace)-\d{1,6}\.\d[^\\/]{0,40}[\\/]src[\\/]/;
const LIBRARY = /^(?:std|core|alloc)::/;
const LIBRARY_FILE = /(?:^|[\\/])library[\\/](?:std|core|alloc)[\\/]src[\\/]/;

/** `<sentry_panic::PanicIntegration as …>::setup`, `<&dyn core::ops::Fn>` */
const plain = (name: string | null): string => (name ?? '').slice(0, 200).replace(/^[<&*\s]+(?:dyn |mut )?/, '');

const isMachinery = ({ function: name, file }: RustFrame): boolean =>
  MACHINERY.test(plain(name)) || (file !== null && MACHINERY_FILE.test(file));
const isLibrary = ({ function: name, file }: RustFrame): boolean =>
  LIBRARY.test(plain(name)) || (file !== null && LIBRARY_FILE.test(file));

/**
 * How many frames belong to the code that took the trace. Library frames between two of these count too; library frames
 * behind the last one are the origin of the error.
 * @param frames innermost first
 */
export function findRustMachinery(frames: readonly RustFrame[]): number {
  let count = 0;
  for (const [i, frame] of frames.entries()) {
    if (isMachinery(frame)) count = i + 1;
    else if (!isLibrary(frame)) break;
  }
  return count < frames.length ? count : 0;
}

/** A timer of Node that does not keep the process alive; in browsers none does. */
export function letGo(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref();
}

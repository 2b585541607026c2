/** How much the process does at the moment, and whether it still takes more. */
export class Load {
  inFlight = 0;
  stopping = false;
  constructor(readonly most: number) {}
  get full(): boolean {
    return this.inFlight >= this.most;
  }
}

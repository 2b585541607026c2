// A status page that follows by itself: asked again while somebody looks at it. The browser sends the ETag, so that an
// answer without news is a few bytes.
const EVERY_MS = 20_000;
const checked = document.getElementById('checked');

const stamp = () => {
  const time = checked?.querySelector('time');
  if (!checked || !time) return;
  const now = new Date();
  time.dateTime = now.toISOString();
  time.textContent = now.toLocaleTimeString();
  checked.hidden = false;
};

const look = async () => {
  try {
    const answer = await fetch(location.href, { cache: 'no-cache' });
    if (answer.status === 404 || answer.status === 401) return location.reload();
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    document.dispatchEvent(new CustomEvent('aos:fetched', { detail: next }));
    const [old, fresh] = [document.getElementById('content'), next.getElementById('content')];
    if (old && fresh && old.innerHTML !== fresh.innerHTML) old.replaceWith(document.adoptNode(fresh));
    if (document.title !== next.title) document.title = next.title;
    stamp();
  } catch {
    // Nobody answers: what is shown stays, with the time when it was looked at.
  }
};

stamp();
const follow = () => {
  if (!document.hidden) void look();
};
setInterval(follow, EVERY_MS);
document.addEventListener('visibilitychange', follow);

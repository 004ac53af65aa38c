// Follows a running game. The browser comes back by itself after a lost connection and says what it has seen; where the
// service has refused it, which it takes for final, we come back.

const BACK_AFTER_MS = 2000;

export function follow(url, query, { onFrames, onEnd }) {
  let mark = null;
  const open = () => {
    const after = mark === null ? "" : `&after=${encodeURIComponent(mark)}`;
    const source = new EventSource(`${url}?${query}${after}`);
    const take = (event) => {
      mark = event.lastEventId;
      const news = JSON.parse(event.data);
      onFrames(news.frames, news.waiting_ms);
    };
    source.addEventListener("snapshot", take);
    source.addEventListener("steps", take);
    source.addEventListener("end", () => {
      source.close();
      onEnd();
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) setTimeout(open, BACK_AFTER_MS);
    });
  };
  open();
}

// Makes a game's page go from step to step without loading. Everything that is shown was drawn by the server.

import * as address from "./address.js";
import { Film } from "./film.js";
import { listen } from "./keys.js";
import { follow } from "./live.js";

const SPEEDS = ["0.5", "1", "2", "4", "8"];
const STEP_MS = 1000; // at speed 1

const viewer = document.getElementById("viewer");
const counter = document.getElementById("counter");
const playButton = document.getElementById("play");
const events = document.getElementById("events");
const dialog = document.getElementById("dialog");
const clock = document.getElementById("clock");

const slots = new Map([...viewer.querySelectorAll("[data-slot]")].map((place) => [place.dataset.slot, place]));
const buttons = [...viewer.querySelectorAll("[data-go]")];

const film = new Film();
let step = Number(viewer.dataset.step);
let shown = null; // the parts that are in the slots now
let isFollowing = false; // a running game at its newest step
let speed = viewer.dataset.speed;
let timer = 0;
let waitingSince = null;

// --- the step that is shown --------------------------------------------------------------------------------

function show(target) {
  step = Math.min(Math.max(1, target), film.length);
  const parts = film.parts(step);
  parts.forEach((part, slot) => {
    if (shown !== null && shown[slot] === part) return;
    const place = slots.get(film.slots[slot]);
    if (place !== undefined) place.innerHTML = film.html(part);
  });
  shown = parts;
  counter.textContent = `${step} / ${film.length}`;
  for (const button of buttons) {
    const to = destination(button.dataset.go);
    if (to === null) {
      button.removeAttribute("href");
      button.setAttribute("aria-disabled", "true");
    } else {
      button.href = hrefOf(to);
      button.removeAttribute("aria-disabled");
    }
  }
  markCurrent();
  isFollowing = film.isRunning && step === film.length;
}

function go(target) {
  if (target === null) return;
  show(target);
  address.change({ step: isFollowing ? null : step });
}

function hrefOf(target) {
  const query = address.parameters();
  query.set("step", target);
  return `?${query}`;
}

function destination(name) {
  const { tricks } = film;
  switch (name) {
    case "first":
      return step > 1 ? 1 : null;
    case "previous":
      return step > 1 ? step - 1 : null;
    case "next":
      return step < film.length ? step + 1 : null;
    case "last":
      return step < film.length ? film.length : null;
    case "previous-trick":
      return tricks.findLast((start) => start < step) ?? null;
    default:
      return tricks.find((start) => start > step) ?? null;
  }
}

function markCurrent() {
  if (events === null) return;
  events.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const line = events.querySelector(`[data-step="${step}"]`);
  if (line === null) return;
  line.setAttribute("aria-current", "step");
  // Only the list itself may scroll, never the page under the reader's eyes.
  if (getComputedStyle(events).overflowY === "auto") {
    const [top, list] = [line.getBoundingClientRect(), events.getBoundingClientRect()];
    if (top.top < list.top + 40) events.scrollTop += top.top - list.top - 40;
    else if (top.bottom > list.bottom - 40) events.scrollTop += top.bottom - list.bottom + 40;
  }
}

// --- playback ----------------------------------------------------------------------------------------------

function play() {
  if (timer !== 0) return pause();
  if (step === film.length) go(1);
  const tick = () => {
    timer = setTimeout(tick, STEP_MS / Number(speed));
    if (step < film.length) go(step + 1);
    if (step === film.length && !film.isRunning) pause();
  };
  timer = setTimeout(tick, STEP_MS / Number(speed));
  labelPlay(playButton.dataset.pause, "❚❚");
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  labelPlay(playButton.dataset.play, "▶\uFE0E");
}

function labelPlay(label, sign) {
  playButton.setAttribute("aria-label", label);
  playButton.firstElementChild.textContent = sign;
}

function setSpeed(wanted) {
  speed = wanted;
  for (const link of viewer.querySelectorAll("[data-speed]")) {
    link.toggleAttribute("aria-current", link.dataset.speed === speed);
    if (link.dataset.speed === speed) link.setAttribute("aria-current", "true");
  }
  address.change({ speed: speed === "1" ? null : speed });
}

function changeSpeed(by) {
  const wanted = SPEEDS[SPEEDS.indexOf(speed) + by];
  if (wanted !== undefined) setSpeed(wanted);
}

// --- whose view --------------------------------------------------------------------------------------------

async function load() {
  const query = address.parameters();
  query.delete("step");
  const answer = await fetch(`${viewer.dataset.frames}?${query}`);
  if (!answer.ok) throw new Error(`the steps could not be loaded: ${answer.status}`);
  take(await answer.json());
}

function take(frames) {
  film.absorb(frames);
  shown = null;
  relist(frames.first);
  [...viewer.querySelectorAll(".seat")].forEach((seat, index) => {
    seat.dataset.position = film.positions[index];
  });
}

function relist(first) {
  if (events === null) return;
  if (first === 1) events.innerHTML = film.items(1).join("");
  else {
    const old = events.querySelector(`[data-step="${first}"]`)?.closest("li");
    if (old) {
      while (old.nextElementSibling) old.nextElementSibling.remove();
      if (old.previousElementSibling?.matches(".trick") && film.tricks.includes(first)) old.previousElementSibling.remove();
      old.remove();
    }
    events.insertAdjacentHTML("beforeend", film.items(first).join(""));
  }
}

async function look(view, reveal) {
  if (film.isRunning) return;
  address.change({ view: view === "public" ? null : view, reveal });
  await load();
  show(step);
  markLook();
}

function markLook() {
  const query = address.parameters();
  const view = query.get("view") ?? "public";
  const isRevealed = query.get("reveal") === null ? view === "public" : query.get("reveal") === "1";
  for (const link of viewer.querySelectorAll("[data-look]")) {
    const isOn = link.dataset.look === "reveal" ? isRevealed : link.dataset.look === view;
    if (isOn) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  return { view, isRevealed };
}

function toggleReveal() {
  const { view, isRevealed } = markLook();
  return look(view, isRevealed ? "0" : "1");
}

function lookFrom(name) {
  return name === "reveal" ? toggleReveal() : look(name, name === "public" ? null : "0");
}

// --- the dialog --------------------------------------------------------------------------------------------

async function open(url) {
  if (dialog === null) {
    location.assign(url);
    return;
  }
  const answer = await fetch(url);
  const content = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("content");
  if (content === null) return;
  dialog.lastElementChild.replaceChildren(content);
  dialog.showModal();
}

// --- a running game ----------------------------------------------------------------------------------------

function receive(frames, waitingMs) {
  const wasFollowing = isFollowing || shown === null;
  take(frames);
  for (const link of viewer.querySelectorAll("[data-go]")) link.removeAttribute("aria-disabled");
  show(wasFollowing && !address.parameters().has("step") ? film.length : step);
  waitingSince = waitingMs === null ? null : performance.now() - waitingMs;
  tell();
}

function tell() {
  if (clock === null) return;
  clock.hidden = waitingSince === null || !film.isRunning;
  if (clock.hidden) return;
  const seconds = Math.floor((performance.now() - waitingSince) / 1000);
  clock.lastElementChild.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

async function finish() {
  const wasFollowing = isFollowing;
  film.isRunning = false;
  tell();
  document.getElementById("running")?.remove();
  for (const badge of document.querySelectorAll(".heading .live")) badge.remove();
  for (const link of viewer.querySelectorAll("[data-look]")) link.hidden = false;
  await load();
  show(wasFollowing ? film.length : step);
  address.change({ step });
  markLook();
}

// --- start -------------------------------------------------------------------------------------------------

function followLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    let action;
    if (link.dataset.go !== undefined) action = () => go(destination(link.dataset.go));
    else if (link.dataset.step !== undefined) action = () => go(Number(link.dataset.step));
    else if (link.dataset.look !== undefined) action = () => lookFrom(link.dataset.look);
    else if (link.dataset.speed !== undefined) action = () => setSpeed(link.dataset.speed);
    else if (link.id === "help") action = () => open(link.href);
    else if (link.id === "legal") action = () => open(address.kept(link));
    else {
      if (link.dataset.keep !== undefined) link.href = address.kept(link);
      return;
    }
    event.preventDefault();
    action();
  });
}

function hand(name) {
  const url = viewer.dataset[name];
  if (url !== undefined) location.assign(url);
}

function listenToKeys() {
  const legal = document.getElementById("legal");
  const help = document.getElementById("help");
  listen({
    ArrowRight: () => go(destination("next")),
    ArrowLeft: () => go(destination("previous")),
    "Shift+ArrowRight": () => go(destination("next-trick")),
    "Shift+ArrowLeft": () => go(destination("previous-trick")),
    Home: () => go(destination("first")),
    End: () => go(destination("last")),
    " ": play,
    "+": () => changeSpeed(1),
    "=": () => changeSpeed(1),
    "-": () => changeSpeed(-1),
    x: toggleReveal,
    t: () => lookFrom("public"),
    ...Object.fromEntries(["0", "1", "2", "3", "4"].map((seat) => [seat, () => lookFrom(`seat${seat}`)])),
    n: () => hand("nextHand"),
    p: () => hand("previousHand"),
    l: () => legal && open(address.kept(legal)),
    "?": () => help && open(help.href),
  });
}

async function start() {
  const isRunning = viewer.dataset.running === "1";
  if (isRunning) {
    follow(viewer.dataset.live, viewer.dataset.query, { onFrames: receive, onEnd: finish });
    setInterval(tell, 1000);
  } else {
    await load();
    show(step);
  }
  playButton.hidden = false;
  playButton.addEventListener("click", play);
  document.getElementById("close")?.addEventListener("click", () => dialog.close());
  followLinks();
  listenToKeys();
  viewer.dataset.ready = "";
}

await start();

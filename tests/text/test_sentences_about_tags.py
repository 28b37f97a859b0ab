"""Sentences about tags, in languages that models answer in, stay whole.

They were written without a look at the rules (text rules 4.12 and 4.14), and are read
as answers of an unknown model and of one whose template opens reasoning.
"""

from __future__ import annotations

import json

import pytest
from checking import check

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "The model opens its reasoning with <think>, and it ends it with </think>.",
        "Look for <think>; everything up to </think> is hidden from the user.",
        "Known tags: <think>, <thinking>, <thought>.",
        "Is the tag called <think> or </think>?",
    ),
    "de": (
        "Die Überlegung beginnt mit <think>, die Antwort folgt nach </think>.",
        "Alles von <think> bis </think> ist unsichtbar.",
        "Manche Modelle (etwa solche mit <think>) brauchen einen Filter.",
        "Es gibt zwei Tags:\n1. Öffnend: <think>.\n2. Schließend: </think>.",
    ),
    "fr": (
        "La balise ouvrante est <think>, la balise fermante est </think>.",
        "Il faut supprimer ce qui est entre <think> et </think>, puis répondre.",
        "Certains modèles utilisent <think> ou <thinking> ; d’autres [THINK].",
    ),
    "es": (
        "El razonamiento va entre <think> y </think>.",
        "Primero se escribe <think>, luego el razonamiento y al final </think>.",
        "Las etiquetas son: <think>, <thinking> y <thought>.",
    ),
    "pt": (
        "O raciocínio fica entre <think> e </think>.",
        "O modelo começa com <think>; depois fecha com </think>.",
    ),
    "it": (
        "Il ragionamento si trova tra <think> e </think>.",
        "Il tag di apertura è <think>. Quello di chiusura è </think>.",
        "Alcuni modelli (per esempio quelli che scrivono <think>) vanno filtrati.",
    ),
    "nl": (
        "De openingstag is <think>, de sluittag is </think>.",
        "Alles tussen <think> en </think> wordt verborgen.",
    ),
    "sv": (
        "Resonemanget står mellan <think> och </think>.",
        "Starttaggen är <think>, sluttaggen är </think>.",
    ),
    "da": (
        "Ræsonnementet står mellem <think> og </think>.",
        "Først kommer <think>, derefter teksten og til sidst </think>.",
    ),
    "no": ("Alt mellom <think> og </think> skjules.",),
    "fi": (
        "Päättely on tagien <think> ja </think> välissä.",
        "Avaava tagi on <think>, sulkeva on </think>.",
    ),
    "pl": (
        "Rozumowanie znajduje się między <think> a </think>.",
        "Znacznik otwierający to <think>, a zamykający to </think>.",
        "Niektóre modele (te, które używają <think>) wymagają parsera.",
    ),
    "cs": (
        "Otevírací značka je <think>, uzavírací je </think>.",
        "Vše od <think> do </think> se skryje.",
    ),
    "ru": (
        "Рассуждение находится между <think> и </think>.",
        "Открывающий тег — <think>, закрывающий — </think>.",
        "Всё от <think> до </think> нужно удалить.",
    ),
    "uk": (
        "Міркування стоїть між <think> та </think>.",
        "Спочатку модель пише <think>, потім відповідь.",
    ),
    "el": (
        "Ο συλλογισμός βρίσκεται ανάμεσα στο <think> και στο </think>.",
        "Η ετικέτα έναρξης είναι <think>, η ετικέτα λήξης είναι </think>.",
    ),
    "hu": (
        "Az érvelés a <think> és a </think> között áll.",
        "A nyitó címke: <think>, a záró címke: </think>.",
    ),
    "ro": ("Raționamentul se află între <think> și </think>.",),
    "tr": (
        "Akıl yürütme <think> ile </think> arasındadır.",
        "Önce <think>, sonra cevap gelir.",
    ),
    "ar": (
        "يوجد التفكير بين <think> و </think>.",
        "وسم البداية هو <think>، ووسم النهاية هو </think>.",
    ),
    "he": (
        "הנימוק נמצא בין <think> ל-</think>.",
        "תג הפתיחה הוא <think>, ותג הסגירה הוא </think>.",
    ),
    "fa": ("استدلال بین <think> و </think> قرار دارد.",),
    "hi": ("तर्क <think> और </think> के बीच होता है।",),
    "bn": ("যুক্তি <think> এবং </think> এর মধ্যে থাকে।",),
    "zh": (
        "推理内容位于<think>和</think>之间。",
        "开始标签是 <think>，结束标签是 </think>。",
        "模型先输出<think>，再输出答案。",
        "删除从 <think> 到 </think> 的全部内容。",
    ),
    "ja": (
        "開始タグは<think>、終了タグは</think>です。",
        "推論は<think>から</think>までです。",
    ),
    "ko": ("추론은 <think>과 </think> 사이에 있습니다.",),
    "id": (
        "Penalaran ada di antara <think> dan </think>.",
        "Tag pembuka adalah <think>, tag penutup adalah </think>.",
    ),
    "vi": (
        "Phần suy luận nằm giữa <think> và </think>.",
        "Mô hình bắt đầu bằng <think>, sau đó kết thúc bằng </think>.",
    ),
    "th": (
        "การให้เหตุผลอยู่ระหว่าง <think> และ </think>",
        "แท็กเปิดคือ <think>, แท็กปิดคือ </think>",
    ),
}


@pytest.mark.parametrize("model", [None, "deepseek-r1"])
@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_about_tags_stays_whole(language: str, model: str | None) -> None:
    for sentence in SENTENCES[language]:
        shown = json.dumps(sentence, ensure_ascii=False)
        params = {"wire": "text", "model": model}
        check(params, [sentence], [f"0 text {shown}", "finish stop"])
